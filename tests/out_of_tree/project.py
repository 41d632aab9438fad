"""The installed tree, and the files of docs/own_kernels.md as a project outside the checkout."""

import os
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("RIDGEBENCH_BUILD", ROOT / "build" / "release"))
PAGE = (ROOT / "docs" / "own_kernels.md").read_text("utf-8")
FILES = dict(re.findall(r"^`mine/([^`\n]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def run(*command, code: int = 0, **how) -> subprocess.CompletedProcess:
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == code, f"{shlex.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done


def write_project(folder: Path, files: dict[str, str] = FILES) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder
