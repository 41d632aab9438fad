"""The rows of a solution as traces, in the form of FlashInfer-trace and SOL-ExecBench, a line of JSON for each workload.

Sources of the form: docs/flashinfer-trace/trace.mdx of flashinfer-ai/flashinfer-bench, docs/trace.md of NVIDIA/SOL-ExecBench.
Both readers leave out keys that they do not have, so that `ridgebench` of a trace has the interval, the roof and the verdict.
"""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any, Iterator, Optional

from ridgebench.base.files import ResultsError
from ridgebench.data.judged import judged
from ridgebench.data.records import Row, Run
from ridgebench.problems.problem import REFERENCE, Problem, open_problem
from ridgebench.problems.problem_files import SOLUTION
from ridgebench.problems.solution import Solution, read_solution
from ridgebench.problems.workload import Workload

_LOAD = re.compile(r"--load=(.*/solution_\w+\.py):kernels")
# Evaluations by a row's status, and those of failed rows by the text of their reason. The last two are SOL-ExecBench's.
_STATUS = {"ok": "PASSED", "wrong": "INCORRECT_NUMERICAL", "suspect": "REWARD_HACK", "invalid": "REWARD_HACK"}
_FAILED = ((r"^the reference failed", "INVALID_REFERENCE"), (r": hung$", "TIMEOUT"), (r"it returned \w+ of shape", "INCORRECT_SHAPE"),
           (r"it returned \w+ of type", "INCORRECT_DTYPE"), (r"(SyntaxError|ImportError|ModuleNotFoundError):", "COMPILE_ERROR"))
_EXTRA = ("id", "status", "reason", "time_ci_low_s", "time_ci_high_s", "flops", "bytes", "bound", "fraction_of_measured_roof", "roof",
          "raised", "raised_by", "doubted", "isolated", "flags", "verify")


def _loaded(run: Run) -> Path:
    """The file of kernels that the run loaded, which is as it was then. Raises ResultsError."""
    words = [match[1] for match in map(_LOAD.fullmatch, run.environment["command_line"]) if match]
    if len(words) != 1:
        raise ResultsError(f"{run.folder}: no solution in it; allowed: a folder of `ridgebench run --solution`")
    file = Path(words[0])
    checksums = [entry["sha256"] for entry in run.environment["loaded"] if entry["file"] == f"{file.name}:kernels"]
    if not file.is_file() or checksums != [sha256(file.read_bytes()).hexdigest()]:
        raise ResultsError(f"{run.folder}: {file} is missing or another one than in the run; allowed: the problem that was measured")
    return file


def _status(row: Row) -> str:
    if row.status != "failed":
        return _STATUS[row.status]
    return next((status for pattern, status in _FAILED if re.search(pattern, row.reason or "")), "RUNTIME_ERROR")


def _correctness(row: Row) -> Optional[dict[str, Any]]:
    """The absolute error is that of the element that is worst by its tolerance; nobody computed relative ones."""
    if row.status not in ("ok", "wrong"):
        return None
    verify = row.verify or {}
    known = verify.get("error") is not None
    return {"max_relative_error": "NaN", "max_absolute_error": verify["error"] * verify["tolerance"] if known else "NaN"}


def _performance(row: Row, reference: Optional[Row]) -> Optional[dict[str, Any]]:
    if row.status != "ok" or row.time_median_s is None:
        return None
    found = {"latency_ms": row.time_median_s * 1e3}
    if reference is not None and reference.time_median_s:
        found["reference_latency_ms"] = reference.time_median_s * 1e3
        found["speedup_factor"] = reference.time_median_s / row.time_median_s
    return found


def _environment(run: Run, row: Row) -> dict[str, Any]:
    device = next(device for device in run.environment["devices"] if device["name"] == row.device)
    libraries = {name: str(version) for name, version in (run.environment.get("libraries") or {}).items() if version}
    return {"hardware": device["model"] or row.device, "libs": {"ridgebench": run.environment["version"], **libraries}}


def _trace(run: Run, row: Row, workload: Workload, solution: Solution) -> dict[str, Any]:
    alike = (one for one in run.rows if one.technique == REFERENCE and one.shape == row.shape and one.op == row.op)
    evaluation = {
        "status": _status(row), "environment": _environment(run, row), "timestamp": run.environment["ended"] or run.environment["started"],
        "log": row.reason or "", "correctness": _correctness(row), "performance": _performance(row, next(alike, None))}
    more = {key: getattr(row, key) for key in _EXTRA}
    return {"definition": solution.definition, "workload": dict(workload.found), "solution": solution.name, "evaluation": evaluation,
            "ridgebench": more}


def _workload_of(problem: Problem, row: Row) -> Optional[Workload]:
    """None for a shape that `--shape` named and no workload has."""
    for workload in problem.workloads:
        parts = (part.partition(":") for part in problem.shape(workload).split("/"))
        if {name: float(value) for name, _, value in parts} == {name: float(value) for name, value in row.shape.items()}:
            return workload
    return None


def _traces(run: Run) -> Iterator[dict[str, Any]]:
    file = _loaded(run)
    run = judged(run)
    problem, solution = open_problem(file.parent), read_solution(file.with_suffix("") / SOLUTION)
    for row in run.rows:
        workload = _workload_of(problem, row) if row.loaded_from else None
        if workload and row.technique != REFERENCE and row.status != "skipped":
            yield _trace(run, row, workload, solution)


def to_traces(run: Run) -> str:
    """Lines of JSON, the rows in the order of the run. Raises ResultsError for a run without a solution at a workload."""
    found = list(_traces(run))
    if not found:
        raise ResultsError(f"{run.folder}: no row of a workload was measured; allowed: `run --solution` without --shape, or at the "
                           "sizes of a workload")
    return "".join(json.dumps(trace, allow_nan=False) + "\n" for trace in found)
