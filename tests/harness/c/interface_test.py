"""harness/c/ridgebench.h is plain C, and the library and the Python package have exactly what it declares."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ridgebench.base import native
from ridgebench.kernels import library

HEADER = Path(__file__).resolve().parents[3] / "harness" / "c" / "ridgebench.h"
TEXT = re.sub(r"/\*.*?\*/", "", HEADER.read_text("utf-8"), flags=re.DOTALL)
FUNCTIONS = set(re.findall(r"^(?:const )?\w+ ?\*? ?(ridgebench_\w+)\(", TEXT, re.MULTILINE))
STRUCTS = {
    "ridgebench_operand": library.COperand,
    "ridgebench_attribute": library.CAttribute,
    "ridgebench_extent": library.CExtent,
    "ridgebench_operation": library.COperation,
    "ridgebench_technique": library.CTechnique,
    "ridgebench_request": library.CRequest,
}


def test_the_header_is_plain_c(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    source = tmp_path / "user.c"
    source.write_text('#include "ridgebench.h"\nint main(void) { return ridgebench_interface() != RIDGEBENCH_INTERFACE; }\n')
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{HEADER.parent}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_library_exports_the_functions_of_the_header_and_nothing_else():
    listing = subprocess.run(["nm", "-D", "--defined-only", os.environ["RIDGEBENCH_LIBRARY"]], capture_output=True,
                             text=True, check=True)
    assert {line.split()[-1] for line in listing.stdout.splitlines()} == FUNCTIONS
    assert len(FUNCTIONS) == 14


def test_python_declares_the_functions_of_the_header():
    assert set(library.SIGNATURES) == FUNCTIONS
    for constant, value in {"INTERFACE": native.INTERFACE, "MESSAGE_BYTES": library.MESSAGE_BYTES}.items():
        assert re.search(rf"^#define RIDGEBENCH_{constant} {value}$", TEXT, re.MULTILINE)


# Members of a struct, with the size of each: pointers and the numbers by their width.
SIZES = {"int32_t": 4, "int64_t": 8, "uint64_t": 8, "double": 8,
         "ridgebench_extents": 8, "ridgebench_reference": 8, "ridgebench_amounts": 8}


@pytest.mark.parametrize("name", STRUCTS)
def test_python_declares_the_structs_of_the_header(name):
    (body,) = re.findall(r"typedef struct \{([^}]*)\} " + name + ";", TEXT)
    expected = []
    for member in filter(None, map(str.strip, body.split(";"))):
        callback = re.match(r".*\(\*(\w+)\)\(", member, re.DOTALL)
        words = member.rsplit(None, 1)
        if callback:
            expected.append((callback[1], 8))
        else:
            expected.append((words[1].lstrip("*"), 8 if "*" in member else SIZES[words[0]]))
    found = [(field[0], ctypes.sizeof(field[1])) for field in STRUCTS[name]._fields_]
    assert found == expected
