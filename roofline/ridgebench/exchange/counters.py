"""Measures with Nsight Compute what the kernels of a run moved and kept busy on a GPU.

    ridgebench counters RESULTS_DIR [--binary build/ridgebench] [--filter RE]

Each row of the run is measured again in a process of its own under ncu, at the clock as it is. Its NVTX range spans its
timed launches. RESULTS_DIR/counters.jsonl gets a line per row, in place of an earlier one of the same row; the figures
then draw a ghost point at the traffic that was measured. Timings under ncu mean nothing and are not kept. Each line that
is printed compares the count with the compulsory bytes and, for products, with the model of their tile.
Exit codes: 0 fine, 2 usage or no permission, 3 interrupted, 7 no ncu or no GPU, 8 ncu failed.
"""

import argparse
import csv
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Optional

from ridgebench.base.children import OUTPUT, completed
from ridgebench.base.command_line import DEVICE_LOST, INTERNAL, OK, ROOT, USAGE, CommandError, Parser
from ridgebench.base.files import decoded, lines_of, write_at_once
from ridgebench.base.patterns import Pattern
from ridgebench.base.streams import ENDING, ended
from ridgebench.base.text import quoted
from ridgebench.data import program
from ridgebench.data.records import Row, load_run, read_counters
from ridgebench.exchange.importers.ncu import DURATION, raw_table

_SCHEMA = "ridgebench.counters/1"
# Names: Nsight Compute's documentation, "Metrics Reference". The key ends in the unit.
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_written_bytes": "dram__bytes_write.sum",
    "l2_bytes": "lts__t_bytes.sum",
    "l2_to_sm_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "tensor_pipe_active_percent": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "fma_pipe_active_percent": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
}
_SCALES = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 1}
for prefix, scale in (("", 1), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9)):
    _SCALES |= {prefix + "s": scale, prefix + "second": scale}
_NUMBER = re.compile(r"[0-9.]*[0-9](e[+-]?[0-9]+)?", re.IGNORECASE)  # not n/a, nan
_LAUNCHES = 50  # of a row, all in its NVTX range


def _nvtx_range(name: str) -> str:
    """ncu's expression for a push/pop range of the domain `ridgebench`; ncu's delimiters in the name are escaped."""
    return "ridgebench@" + re.sub(r"([\\/@,*+\[\]])", r"\\\1", name) + "/"


def _command(row: Row, binary: Path, results: Path, profile: str, out: Path) -> list[str]:
    """The command that measures one row under ncu."""
    metrics = ",".join([*METRICS.values(), DURATION])
    profiler = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--nvtx"]
    profiler += ["--nvtx-include", _nvtx_range(row.id), "--launch-count", str(_LAUNCHES)]
    run = ["run", "--device", row.device, "--filter", f"^{re.escape(row.id)}$", "--out", str(out)]
    run += ["--profile", profile, "--regime", row.regime]
    if row.role == "kernel":  # the run's own ceilings spare their measurement under ncu
        run += ["--ceilings", str(results)]
    return [*profiler, "--metrics", metrics, str(binary), *run]


def _failure(text: str) -> CommandError:
    """The error that ncu's output represents."""
    if "ERR_NVGPUCTRPERM" in text:
        return CommandError(
            "the driver does not permit counters to this user (ERR_NVGPUCTRPERM); an administrator "
            "allows them with NVreg_RestrictProfilingToAdminUsers=0", USAGE
        )
    last = (text.strip().splitlines() or ["no message"])[-1]
    return CommandError(f"ncu failed: {last}", INTERNAL)


def _launches(text: str) -> list[dict[str, float]]:
    """Metrics of every launch, with the kernel's name; none where ncu printed no table."""
    try:
        table = raw_table(text)
    except csv.Error:
        return []
    if len(table) < 3:
        return []
    header, units, *rows = table
    found = []
    for row in rows:
        cells = dict(zip(header, row))
        launch = {"kernel": cells["Kernel Name"]}
        for key, metric in {**METRICS, "duration_s": DURATION}.items():
            value = cells.get(metric, "").replace(",", "")
            scale = _SCALES.get(units[header.index(metric)]) if metric in header else None
            launch[key] = float(value) * scale if _NUMBER.fullmatch(value) and scale else None
        found.append(launch)
    return found


def _own_kernel(found: list[dict], row: Row) -> list[dict]:
    """The launches of the row's kernel: <operation>_<technique>, or a library's that takes the most time."""
    named = [launch for launch in found if f"{row.op}_{row.technique}" in launch["kernel"]]
    spent: dict[str, float] = {}
    for launch in named or found:
        spent[launch["kernel"]] = spent.get(launch["kernel"], 0) + (launch["duration_s"] or 0)
    name = max(spent, key=spent.__getitem__)
    return [launch for launch in found if launch["kernel"] == name]


def _counters_of(row: Row, options: argparse.Namespace, profile: str) -> dict:
    """The line of counters.jsonl for a row: medians over the launches of its kernel."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        environment = {**os.environ, "RIDGEBENCH_UNGATED": "1"}  # ncu runs kernels one at a time
        line = _command(row, options.binary, options.results, profile, out)
        how = {"encoding": "utf-8", "errors": "replace", "env": environment}
        done = completed(line, **OUTPUT, **how)
    found = _launches(done.stdout)
    if not found:
        raise _failure(done.stdout + done.stderr)
    own = _own_kernel(found, row)
    counted = {"schema": _SCHEMA, "id": row.id, "kernel": own[0]["kernel"], "launches": len(own)}
    for key in METRICS:
        values = sorted(launch[key] for launch in own if launch[key] is not None)
        counted[key] = values[len(values) // 2] if values else None
    read, written = counted["dram_read_bytes"], counted["dram_written_bytes"]
    counted["dram_bytes"] = None if read is None or written is None else read + written
    return counted


def _ratio(counted: Optional[float], expected: Optional[float]) -> str:
    return f"{counted / expected:.3f}" if counted and expected else "unknown"


def _comparison(row: Row, counted: dict) -> str:
    """What was counted over the compulsory bytes and, if the row has them, over those of its technique's model."""
    text = f"{row.id}: DRAM traffic over compulsory bytes {_ratio(counted['dram_bytes'], row.bytes)}"
    if row.model_dram_bytes is None:
        return text
    dram = _ratio(counted["dram_bytes"], row.model_dram_bytes)
    l2 = _ratio(counted["l2_to_sm_bytes"], row.model_l2_to_sm_bytes)
    return f"{text}, over the model {dram}; L2 to SMs over the model {l2}"


def _measured_before(path: Path) -> dict[str, str]:
    """The lines of an existing counters.jsonl by row."""
    read_counters(path)  # raises ResultsError where a line is malformed
    lines = [decoded(line, origin) for origin, line in lines_of(path)] if path.exists() else []
    return {json.loads(line)["id"]: line.rstrip() + "\n" for line in lines}


def _measure(options: argparse.Namespace) -> int:
    """Counts row by row; counters.jsonl is complete after each."""
    run = load_run(options.results)
    rows = [row for row in run.rows if row.status == "ok" and row.device.startswith("cuda:")]
    roles = ("kernel", "ceiling") if options.filter else ("kernel",)
    filter_ = Pattern(options.filter, "--filter")
    rows = [row for row in rows if row.role in roles]
    if not rows:
        raise CommandError(f"{options.results} holds no verified row of a GPU", DEVICE_LOST)
    rows = [row for row in rows if filter_.search(row.id)]
    if not rows:
        raise CommandError(f"--filter {quoted(options.filter)} matches no verified row of a GPU in {options.results}", USAGE)
    if shutil.which("ncu") is None:
        raise CommandError("ncu is not installed (it comes with the CUDA toolkit)", DEVICE_LOST)
    path = options.results / "counters.jsonl"
    lines = _measured_before(path)
    for row in rows:
        counted = _counters_of(row, options, run.environment["profile"])
        lines[row.id] = json.dumps(counted) + "\n"
        write_at_once(path, "".join(lines.values()))
        print(_comparison(row, counted))
    return OK


def main(arguments: list[str]) -> int:
    parser = Parser(prog="counters", description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, metavar="RESULTS_DIR")
    parser.add_argument("--binary", type=Path, default=program.binary() or ROOT / "build" / "ridgebench")
    parser.add_argument("--filter", default="", metavar="RE", help="rows to measure, ceilings too; default: all kernels")
    try:
        return _measure(parser.parse_args(arguments))
    except ENDING as error:
        return ended(error, "counters", "what was counted is kept")
