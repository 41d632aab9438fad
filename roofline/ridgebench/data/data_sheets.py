"""Data sheets of vendors, as the program reads them: roofline/devices/*.json, or a user's file."""

import os
from dataclasses import dataclass
from typing import Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.installation import SHEETS
from ridgebench.base.text import clean

from . import program

FOLDER = SHEETS


@dataclass(frozen=True)
class Sheet:
    """Dense peaks with fp32 accumulation by format (FLOP/s, fastest engine), and bandwidth (bytes/s)."""

    name: str
    title: str
    memory: str
    bytes_per_s: float
    peaks: dict[str, tuple[str, float]]  # format -> (engine, FLOP/s)


def find_sheet(name: str) -> Sheet:
    """The sheet of a name or an alias, in any case, or of the path of a sheet's file. Raises ResultsError."""
    ask = program.asked if os.path.exists(name) else program.ask  # a file may change while this process runs
    [told] = clean(ask("show", f"--on={name}")["sheets"])
    peaks = {peak["format"]: (peak["engine"], peak["flops_per_s"]) for peak in told["peaks"]}
    return Sheet(told["name"], told["title"], told["memory"], told["bytes_per_s"], peaks)


def sheet_if_known(name: str) -> Optional[Sheet]:
    """The same; None if the sheet is unknown, for example because its file was removed. Raises ResultsError without the program."""
    program.require_program("show", f"--on={name}")
    try:
        return find_sheet(name)
    except ResultsError:
        return None
