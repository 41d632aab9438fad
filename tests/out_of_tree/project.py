"""The files of docs/own_kernels.md, docs/own_operations.md and docs/native_kernels.md as a project outside the checkout."""

import re
from pathlib import Path

from golden import ROOT

PAGE = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("own_kernels.md", "own_operations.md", "native_kernels.md"))
FILES = dict(re.findall(r"^`mine/([^`\n]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
# The second page adds its file to the list of kernels.
KERNELS = re.compile(r"^ridgebench_add_kernels\(mine .*$", re.MULTILINE)
FILES["CMakeLists.txt"] = KERNELS.sub(KERNELS.findall(PAGE)[-1], FILES["CMakeLists.txt"])


def write_project(folder: Path, files: dict[str, str] = FILES) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder
