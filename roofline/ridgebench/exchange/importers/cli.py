"""Makes a results directory of what another benchmark or profiler wrote. Its points are drawn, but not verified."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Optional

from ridgebench.base.command_line import OK, CommandError, Parser
from ridgebench.base.text import one_line
from ridgebench.base.units import counted
from ridgebench.data.data_sheets import find_sheet
from ridgebench.problems import importing

from . import mapping, number_formats, plain, records
from .point import Imported, WrongForm


class _Tool(NamedTuple):
    module: str
    name: str  # in records
    backend: str  # of what it measures
    writes: str = ""  # how it writes what its reader takes; empty if the reader's message says that


_TOOLS = {
    "nvbench": _Tool("nvbench", "nvbench", "cuda", "a benchmark of nvbench with --json FILE or --csv FILE"),
    "ncu": _Tool("ncu", "Nsight Compute", "cuda", "ncu --csv, best with --page raw, and without --print-summary"),
    "gbench": _Tool("gbench", "Google Benchmark", "cpu", "a benchmark with --benchmark_out=FILE --benchmark_out_format=json"),
    "cutlass": _Tool("cutlass", "CUTLASS profiler", "cuda", "cutlass_profiler --output=FILE"),
    "triton": _Tool("triton", "Triton", "cuda", "perf_report(...).run(save_path=...)"),
    "llama-bench": _Tool("llama_bench", "llama-bench", "cuda", "llama-bench -o json or -o jsonl"),
    "torch-profiler": _Tool("torch_profiler", "torch.profiler", "cuda", "export_chrome_trace(FILE)"),
    "nccl-tests": _Tool("nccl_tests", "nccl-tests", "cuda", "one program such as all_reduce_perf, under mpirun without --tag-output"),
    "nvbandwidth": _Tool("nvbandwidth", "nvbandwidth", "cuda", "nvbandwidth -j"),
    "csv": _Tool("plain", "another tool", "cpu"),
}
_MOST_LINES = 5  # of what was left out


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="import", description=__doc__)
    parser.add_argument("tool", choices=_TOOLS, metavar="TOOL", help=f"what wrote the file: {', '.join(_TOOLS)}; `import problem --help` is about problems")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument("--map", type=Path, metavar="TOML", help="operation, format, shape, FLOPs and bytes of points")
    parser.add_argument("--format", help="number format of points whose format neither the file nor the map says")
    parser.add_argument("--unit", help="of triton's columns whose names have none: ms, GB/s, TFLOP/s")
    parser.add_argument("--columns", nargs="+", metavar="NAME=COLUMN",
                        help="of csv: what its columns hold, such as name=kernel 'time=latency (us)' m=M; the others are left out")
    parser.add_argument("--buffer-size", metavar="MIB", help="of nvbandwidth: MiB of a copy, its --bufferSize")
    parser.add_argument("--backend", choices=("cpu", "cuda"), help="what the tool measured; default: by the tool")
    parser.add_argument("--model", help="name of the measured device, for figures")
    parser.add_argument("--roof", metavar="SHEET", help="data sheet to draw the points under, e.g. h100-sxm")
    parser.add_argument("--strict", action="store_true", help="exit with 2 if a row is left out")
    options = parser.parse_args(arguments)
    if options.unit and options.tool != "triton":
        parser.error("--unit is an option of triton")
    if options.columns and options.tool != "csv":
        parser.error("--columns is an option of csv")
    if options.buffer_size and options.tool != "nvbandwidth":
        parser.error("--buffer-size is an option of nvbandwidth")
    if options.format is not None and number_formats.find(options.format) is None:
        parser.error(f"unknown --format {options.format!r}; allowed: {number_formats.allowed()}")
    return options


def load(options: argparse.Namespace) -> Imported:
    tool = _TOOLS[options.tool]
    module = import_module(f"ridgebench.exchange.importers.{tool.module}")
    more = {"triton": [options.unit], "csv": [plain.named_columns(options.columns)],
            "nvbandwidth": [options.buffer_size]}
    try:
        imported = module.load(options.file, *more.get(options.tool, []))
    except WrongForm as error:
        raise CommandError(f"{error}; allowed: the output of {tool.writes}") if tool.writes else error from None
    if not imported.points and not imported.left_out:
        raise CommandError(f"{options.file}: no point in it")
    return imported


def _apply_map(imported: Imported, path: Optional[Path]) -> None:
    """Applies the map, and notes which of its entries matched nothing."""
    entries, used, points = mapping.load(path), set(), imported.points
    imported.points = []
    for point in points:
        with imported.row():
            entry, groups = mapping.apply(point, entries)
            if entry is not None:
                used.add(id(entry))
                mapping.fill(point, entry, groups)
            imported.points.append(point)
    for entry in entries if points else ():
        if id(entry) not in used:
            imported.notes.append(f"{entry.origin}: {entry.values['name']!r} matches no point")


def _note(text: str) -> None:
    print(f"import: {one_line(text)}", file=sys.stderr)


def _require(rows: list, imported: Imported, options: argparse.Namespace) -> None:
    """Raises CommandError where no row remains or, with --strict, where one was left out."""
    lost = len(imported.left_out)
    if rows and not (options.strict and lost):
        return
    why = "--strict allows no row that is left out" if rows else "no point remains"
    raise CommandError(f"{options.file}: {why}; {counted(lost, 'row')} left out, the last: {imported.left_out[-1]}")


def _say_doubts(imported: Imported) -> None:
    """Prints the notes, and the first lines of what was left out."""
    for line in imported.notes:
        _note(f"note: {line}")
    lines = list(dict.fromkeys(imported.left_out))
    for line in lines[:_MOST_LINES]:
        _note(f"left out: {line}")
    if len(lines) > _MOST_LINES:
        _note(f"left out: {len(lines) - _MOST_LINES} more")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["problem"]:
        return importing.main(arguments[1:])
    options = _parse(arguments)
    if options.roof:
        find_sheet(options.roof)  # refuses what is not a sheet
    imported = load(options)
    _apply_map(imported, options.map)
    _, tool, backend, _ = _TOOLS[options.tool]
    rows = records.records(imported, tool, options.backend or imported.backend or backend, options.format)
    _require(rows, imported, options)
    _say_doubts(imported)
    command = ["ridgebench", "import", *arguments]
    facts = records.environment(imported, rows, tool, options.file, vars(options), command)
    records.write(options.out, rows, facts)
    drawable = sum(1 for row in rows if row["intensity_flop_per_byte"] and row["flops"])
    points = counted(len(rows), "point")
    lost = len(imported.left_out)
    lost_text = f"; {counted(lost, 'row')} left out" if lost else ""
    print(f"{points} in {one_line(str(options.out))}, unverified; {drawable} with FLOPs and bytes for a roofline{lost_text}")
    return OK
