"""The kernels that the rows of another program launch, as a file lists them.

The file is CSV with a column `row` and a column `kernel`, a line for each kernel of a row; or what nsys writes of recorded ranges,
`nsys stats --report nvtx_kern_sum --format csv`, with `NVTX Range` and `Kernel Name`. A kernel is named as in the source, with or
without arguments of templates and parameters, or by its mangled name.
"""

import csv
import io
import re
from pathlib import Path

from ridgebench.base.files import ResultsError, read
from ridgebench.base.units import counted

from .names import readable

_COLUMNS = (("row", "kernel"), ("NVTX Range", "Kernel Name"))
_BRACKETS = re.compile(r"<[^<>]*>|\([^()]*\)")


def read_launches(path: Path) -> dict[str, set[str]]:
    """The names of kernels by row. Raises ResultsError."""
    lines = csv.reader(io.StringIO(read(path, "a list of launches")), strict=True)
    found: dict[str, set[str]] = {}
    try:
        header = [column.strip() for column in next(lines, [])]
        columns = next((pair for pair in _COLUMNS if set(pair) <= set(header)), None)
        if columns is None:
            raise ResultsError(f"{path}:1: no columns of rows and kernels; allowed: row,kernel, or NVTX Range and Kernel Name of nsys")
        row, kernel = map(header.index, columns)
        for line in filter(None, lines):
            if len(line) != len(header) or not line[row].strip() or not line[kernel].strip():
                raise ResultsError(f"{path}:{lines.line_num}: {counted(len(line), 'column')}; allowed: {len(header)}, with a row and a kernel")
            found.setdefault(line[row].strip().removeprefix(":"), set()).add(line[kernel].strip())
    except csv.Error as error:
        raise ResultsError(f"{path}:{lines.line_num}: no CSV: {error}") from None
    if not found:
        raise ResultsError(f"{path}: lists no kernel")
    return found


def _base(name: str) -> str:
    """The last name of a function: 'scale' of 'void tools::scale<3>(float*)'."""
    before = ""
    while before != name:
        before, name = name, _BRACKETS.sub("", name)
    return re.split(r"::|\s", name.strip())[-1]


def kernels_named(names: set[str], kernels: set[str]) -> tuple[set[str], list[str]]:
    """The kernels that have one of the names, and the names that none has. A name without arguments represents all instances."""
    found, unknown = set(), []
    for name in sorted(names):
        exact = {kernel for kernel in kernels if name in (kernel, readable(kernel))}
        matching = exact or {kernel for kernel in kernels if _base(readable(kernel)) == _base(name)}
        found |= matching
        if not matching:
            unknown.append(name)
    return found, unknown
