"""Makes a results directory of what another benchmark or profiler wrote. Its points are drawn, but not verified."""

import argparse
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Optional

from ridgebench.command_line import OK, CommandError, Parser, one_line
from ridgebench.data_sheets import find_sheet
from ridgebench.importers import mapping, number_formats, records
from ridgebench.importers.point import Imported, Point

# Format: its module, the tool's name in records, and the backend of what it measures.
TOOLS = {
    "nvbench": ("nvbench", "nvbench", "cuda"),
    "ncu": ("ncu", "Nsight Compute", "cuda"),
    "gbench": ("gbench", "Google Benchmark", "cpu"),
    "cutlass": ("cutlass", "CUTLASS profiler", "cuda"),
    "triton": ("triton", "Triton", "cuda"),
    "csv": ("plain", "another tool", "cpu"),
}
MOST_LINES = 5  # of what was left out


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="import", description=__doc__)
    parser.add_argument("tool", choices=TOOLS, help="what wrote the file")
    parser.add_argument("file", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument("--map", type=Path, metavar="TOML", help="operation, format, shape, FLOPs and bytes of points")
    parser.add_argument("--format", help="number format of points whose format neither the file nor the map says")
    parser.add_argument("--unit", help="of triton's columns that name none: ms, GB/s, TFLOP/s")
    parser.add_argument("--backend", choices=("cpu", "cuda"), help="what the tool measured; default: by the tool")
    parser.add_argument("--model", help="name of the measured device, for figures")
    parser.add_argument("--roof", metavar="SHEET", help="data sheet to draw the points under, e.g. h100-sxm")
    options = parser.parse_args(arguments)
    if options.unit and options.tool != "triton":
        parser.error("--unit is an option of triton")
    if options.format is not None and number_formats.find(options.format) is None:
        parser.error(f"unknown --format {options.format!r}; allowed: {number_formats.allowed()}")
    return options


def load(options: argparse.Namespace) -> Imported:
    module = import_module(f"ridgebench.importers.{TOOLS[options.tool][0]}")
    imported = module.load(options.file, options.unit) if options.tool == "triton" else module.load(options.file)
    if not imported.points:
        why = f"; {imported.left_out[0]}" if imported.left_out else ""
        raise CommandError(f"{options.file}: no point in it{why}")
    return imported


def apply_map(points: list[Point], path: Optional[Path]) -> None:
    """Applies the map, and says which of its entries matched nothing."""
    entries = mapping.load(path)
    used = Counter(id(mapping.apply(point, entries)) for point in points)
    for entry in entries:
        if not used[id(entry)]:
            note(f"{entry.origin}: {entry.values['name']!r} matches no point")


def note(text: str) -> None:
    print(f"import: {one_line(text)}", file=sys.stderr)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if options.roof:
        find_sheet(options.roof)  # refuses what is no sheet
    imported = load(options)
    apply_map(imported.points, options.map)
    _, tool, backend = TOOLS[options.tool]
    rows = records.records(imported, tool, options.backend or backend, options.format)
    imported.left_out = list(dict.fromkeys(imported.left_out))
    for line in imported.left_out[:MOST_LINES]:
        note(f"left out: {line}")
    if len(imported.left_out) > MOST_LINES:
        note(f"left out: {len(imported.left_out) - MOST_LINES} more")
    if not rows:
        raise CommandError(f"{options.file}: no point in a format that ridgebench has")
    command = ["ridgebench", "import", *arguments]
    facts = records.environment(imported, rows, tool, options.file, vars(options), command)
    records.write(options.out, rows, facts)
    drawable = sum(1 for row in rows if row["intensity_flop_per_byte"] and row["flops"])
    points = f"{len(rows)} point{'s' * (len(rows) > 1)}"
    print(f"{points} in {one_line(str(options.out))}, unverified; {drawable} with FLOPs and bytes for a roofline")
    return OK
