"""Data sheets of vendors: roofline/devices/*.json."""

import json
import math
import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ridgebench.command_line import ROOT
from ridgebench.files import ResultsError, read, wrong
from ridgebench.text import clean

TF32_PRODUCTS = 3

FOLDER = ROOT / "roofline" / "devices"
FP4 = "fp4_e2m1"


@dataclass(frozen=True)
class Sheet:
    """Dense peaks with fp32 accumulation by format (FLOP/s, fastest engine), and bandwidth (bytes/s)."""

    name: str
    title: str
    memory: str
    bytes_per_s: float
    peaks: dict[str, tuple[str, float]]  # format -> (engine, FLOP/s)


def parse_sheet(path: Path) -> Sheet:
    try:
        sheet = clean(json.loads(read(path, "a data sheet")))
        peaks: dict[str, tuple[str, float]] = {}
        for peak in sheet["peaks"]:
            if peak["accumulator"] != "fp32" or peak["format"] == FP4:  # no kernel here computes so
                continue
            best = (str(peak["engine"]), float(peak["flops_per_s"]))
            peaks[peak["format"]] = max(best, peaks.get(peak["format"], best), key=lambda p: p[1])
        if "tf32" in peaks:
            engine, peak = peaks["tf32"]
            peaks.setdefault("tf32x3", (engine, peak / TF32_PRODUCTS))
        memory = sheet["memory"]
        rates = [float(memory["bandwidth_bytes_per_s"]), *(rate for _, rate in peaks.values())]
        if not all(0 < rate < math.inf for rate in rates):
            raise ValueError("a rate that is no number above 0")
        return Sheet(
            name=str(sheet["name"]),
            title=str(sheet.get("title") or sheet["name"]),
            memory=str(memory.get("kind") or "memory"),
            bytes_per_s=rates[0],
            peaks=peaks,
        )
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ResultsError(f"{path}: not a data sheet: {wrong(error)}") from None


def names(path: Path) -> list[str]:
    """The names of a sheet: its file's, its aliases, and those that nvidia-smi prints for its devices, with and without NVIDIA."""
    try:
        sheet = json.loads(read(path))
        others = [*sheet.get("aliases", []), *sheet.get("match", {}).get("names", [])]
    except (ValueError, AttributeError, TypeError):
        others = []  # parse_sheet() reports what is wrong when the sheet is used
    return [path.stem, *(form for name in map(str, others) for form in (name, name.removeprefix("NVIDIA ")))]


def find_sheet(name: str) -> Sheet:
    """The sheet of one of these names (in any case), or of the path of a sheet's file. Raises ResultsError."""
    paths = {known.lower(): path for path in sorted(FOLDER.glob("*.json")) for known in names(path)}
    if name.lower() in paths:
        return parse_sheet(paths[name.lower()])
    if name.endswith(".json") or os.path.isfile(name):
        return parse_sheet(Path(name))
    nearest = "".join(f"nearest: {known}; " for known in get_close_matches(name.lower(), paths, n=1))
    sheets = ", ".join(sorted({path.stem for path in paths.values()}))
    raise ResultsError(f"no data sheet named {clean(name)!r}; {nearest}there are {sheets}, or a data sheet file")
