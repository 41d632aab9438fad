"""Puts the DRAM ceilings of a host's run next to stream.c, which shares no code with the suite.

Run it on the machine of the results, at the same load. stream.c uses arrays of the ceiling's size. The two programs
run minutes apart, so the ratio also shows what the machine did in between.
"""

import os
import re
import tempfile
from pathlib import Path

from ridgebench.base.children import OUTPUT, completed
from ridgebench.base.command_line import OK, Parser
from ridgebench.data.records import Row, read_rows

_FLAGS = "-O3 -march=native -ffast-math -fopenmp -funroll-loops -fvariable-expansion-in-unroller".split()
_FLOAT_BYTES, _REPEATS = 4, "20"


def _ceilings(folder: Path) -> dict[str, Row]:
    """The fastest verified row of each DRAM ceiling, by the name of the kernel of stream.c."""
    found: dict[str, Row] = {}
    for row in read_rows(folder / "records.jsonl")[0]:
        name = row.op.removeprefix("dram_")
        if row.role == "ceiling" and row.status == "ok" and row.device == "cpu" and name != row.op:
            found[name] = max(found.get(name, row), row, key=lambda r: r.bytes_per_s)
    return found


def _stream(program: Path, name: str, mebibytes: int) -> float:
    """Median byte/s of one kernel of stream.c; nan if it has no kernel of that name."""
    command = [program, str(mebibytes), "nt", _REPEATS, name]
    pinned = os.environ | {"OMP_PROC_BIND": "true"}
    done = completed(command, **OUTPUT, env=pinned, encoding="utf-8")
    done.check_returncode()
    found = re.search(rf"^{name} .*median +([0-9.]+)", done.stdout, re.MULTILINE)
    return float(found.group(1)) * 1e9 if found else float("nan")


def main(arguments: list[str]) -> int:
    parser = Parser(prog="stream", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="results of a host")
    folder = parser.parse_args(arguments).folder
    rows = _ceilings(folder)
    if not rows:
        raise SystemExit(f"{folder}: no DRAM ceiling of a host that is ok")
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "stream"
        completed(["gcc", *_FLAGS, Path(__file__).with_name("stream.c"), "-o", program]).check_returncode()
        for name, row in sorted(rows.items()):
            other = _stream(program, name, row.shape["n"] * _FLOAT_BYTES >> 20)
            rate = row.bytes_per_s
            print(f"{row.id:50} {rate / 1e9:7.2f} GB/s, stream.c {other / 1e9:7.2f} GB/s, ratio {rate / other:.3f}")
    return OK
