"""A built program or library loads other libraries from folders with a full path, and from no folder in which a user happens to be."""

import os
import re
import sys
from pathlib import Path

import pytest
from build_folder import BUILD, dynamic, needs_build, run, skip_if_sanitized

PROGRAM, LIBRARY = BUILD / "ridgebench", BUILD / "libridgebench.so"
SHARED = {b"\x02\0", b"\x03\0"}  # ET_EXEC and ET_DYN of elf(5)


def is_loaded(file: Path) -> bool:
    """True if a file is a program or a shared library."""
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as opened:
        header = opened.read(18)
    return header[:4] == b"\x7fELF" and header[16:] in SHARED


def test_no_entry_of_a_run_path_is_empty_or_relative():
    needs_build()
    files = [file for file in BUILD.rglob("*") if is_loaded(file)]
    assert {PROGRAM, LIBRARY} <= set(files)
    paths = {str(file.relative_to(BUILD)): dynamic(file, "(?:RPATH|RUNPATH)") for file in files}
    wrong = {
        name: entry
        for name, found in paths.items()
        for path in found
        for entry in path.split(":")
        if not entry.startswith(("/", "$ORIGIN"))
    }
    assert not wrong
    assert paths["ridgebench"] and paths["libridgebench.so"]


@pytest.mark.parametrize(
    "command",
    [
        (PROGRAM, "info"),
        (PROGRAM, "doctor"),
        (sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(LIBRARY)!r})"),
    ],
    ids=["info", "doctor", "library"],
)
def test_the_loader_tries_no_file_of_the_current_folder(command, tmp_path):
    needs_build()
    skip_if_sanitized(LIBRARY)
    variables = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"} | {"LD_DEBUG": "libs"}
    tried = re.findall("trying file=(.*)", run(*command, env=variables, cwd=tmp_path).stderr)
    assert any("libgomp" in file for file in tried)
    assert [file for file in tried if not file.startswith("/")] == []
