"""The files of docs/own_kernels.md as a project outside the checkout."""

import re
from pathlib import Path

from golden import ROOT

PAGE = (ROOT / "docs" / "own_kernels.md").read_text("utf-8")
FILES = dict(re.findall(r"^`mine/([^`\n]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def write_project(folder: Path, files: dict[str, str] = FILES) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder
