"""The report for other programs: CSV, JUnit, and metrics for Prometheus's node exporter."""

import math
from typing import Any, Iterator

from ridgebench.base.command_line import INTERRUPTED, OK
from ridgebench.base.printers import ERROR, FAILURE, PASSED, SKIPPED, Judged, Sample, csv_table, junit, prometheus
from ridgebench.fleet import findings
from ridgebench.fleet.gpu import FAILED, MISSING, STARTED
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.soaks import Soak
from ridgebench.fleet.states import SLOW_ONCE, WRONG, Verdict, code_of

from .document import known

COLUMNS = ("node", "index", "uuid_hash", "model", "state", "severity", "confirmed", "attempt", "lowest_pass", "lowest_row",
           "lowest_ratio", "lowest_z", "reason", "next")  # fmt: skip
_ERRORS = (FAILED, STARTED, MISSING, WRONG)  # of JUnit; other states are failures


def to_csv(assessment: Assessment) -> str:
    """A line for each GPU; the last columns have its ratio to the median of its peers in each row."""
    lines = []
    for index, verdict in enumerate(assessment.verdicts):
        gpu, worst = verdict.gpu, verdict.worst
        column = assessment.columns[worst.column] if worst else None
        line = [gpu.node, gpu.index, gpu.uuid_hash, gpu.model, verdict.state, verdict.severity, int(verdict.confirmed), gpu.attempt]
        line += [column.pass_, column.row, known(worst.ratio, 5), known(worst.z, 4)] if column and worst else [None] * 4
        ratios = ("" if math.isnan(ratio) else f"{ratio:.4f}" for ratio in assessment.scored.ratio[index].tolist())
        lines.append([*line, verdict.reason, verdict.next, *ratios])
    return csv_table([*COLUMNS, *(f"{column.pass_} {column.row}" for column in assessment.columns)], lines)


def _judged(verdict: Verdict) -> Judged:
    """A GPU as a test case: what is slow once is skipped, as undecided results are."""
    gpu, code = verdict.gpu, code_of(verdict)
    name, notes = gpu.node if gpu.host else f"{gpu.node} GPU {findings.name_of(gpu.index)}", "; ".join(verdict.notes)
    if code == OK:
        return Judged(name, verdict.state, PASSED, notes=notes)
    outcome = SKIPPED if code == SLOW_ONCE else ERROR if verdict.state in _ERRORS else FAILURE
    return Judged(name, verdict.state, outcome, f"{verdict.state}: {verdict.reason}", f"next: {verdict.next}", notes)


def _judged_soak(soak: Soak) -> Judged:
    """A soak as a test case: an interrupted one is skipped."""
    name = f"{soak.node} {soak.device} soak {soak.folder}"
    if soak.code == OK:
        return Judged(name, soak.state, PASSED)
    outcome = SKIPPED if soak.code == INTERRUPTED else ERROR if soak.state in _ERRORS else FAILURE
    return Judged(name, soak.state, outcome, f"{soak.state}: {soak.reason}")


def to_junit(assessment: Assessment) -> str:
    cases = [*map(_judged, assessment.verdicts), *map(_judged_soak, assessment.soaks)]
    return junit("ridgebench fleet", "ridgebench.fleet", cases)


def _gpu_labels(verdict: Verdict) -> dict[str, Any]:
    return {"node": verdict.gpu.node, "gpu": findings.name_of(verdict.gpu.index), "uuid_hash": verdict.gpu.uuid_hash}


def _lowest(assessment: Assessment) -> Iterator[Sample]:
    for verdict in assessment.verdicts:
        if verdict.worst:
            column = assessment.columns[verdict.worst.column]
            yield _gpu_labels(verdict) | {"pass": column.pass_, "row": column.row}, verdict.worst.ratio


def _soak_labels(soak: Soak) -> dict[str, Any]:
    name = findings.name_of(soak.index)
    return {"node": soak.node, "gpu": name, "uuid_hash": soak.uuid_hash, "folder": soak.folder}


def _of_soaks(soaks: list[Soak]) -> Iterator[str]:
    """The metrics of soaks: their states, and the wrong bits by kernel, phase and multiprocessor."""
    errors = [(_soak_labels(soak) | {"row": one.id}, one) for soak in soaks for one in soak.errors]
    yield prometheus("ridgebench_fleet_soak_exit_code", "Exit code that the soak leads to; 0 is well.",
                     ((_soak_labels(soak) | {"state": soak.state}, soak.code) for soak in soaks))  # fmt: skip
    yield prometheus("ridgebench_fleet_soak_elapsed_seconds", "Time that the soak has run.",
                     ((_soak_labels(soak), soak.elapsed_s) for soak in soaks))  # fmt: skip
    yield prometheus("ridgebench_fleet_soak_wrong_bits", "Wrong bits of a kernel or a pattern of memory.",
                     ((labels, one.bits) for labels, one in errors))  # fmt: skip
    yield prometheus("ridgebench_fleet_soak_mismatches", "Launches with wrong bits in this phase.",
                     ((labels | {"phase": phase}, number) for labels, one in errors for phase, number in one.phases))  # fmt: skip
    yield prometheus("ridgebench_fleet_soak_wrong_multiprocessor", "1 for each multiprocessor with wrong bits.",
                     ((labels | {"sm": unit}, 1) for labels, one in errors for unit in one.units))  # fmt: skip


def to_prometheus(assessment: Assessment) -> str:
    """GPUs are labelled, rows only by their medians."""
    measured, expected = findings.coverage(assessment)
    manifest, gpus = assessment.fleet.manifest, assessment.verdicts
    of_rows = [
        ({"pass": column.pass_, "row": column.row, "unit": column.unit}, n) for n, column in enumerate(assessment.columns)
    ]  # fmt: skip
    fleet = assessment.groups[0] if assessment.groups else None
    parts = [
        prometheus("ridgebench_fleet_gpus", "GPUs in this state.", (({"state": s}, n) for s, n in findings.counts(assessment).items())),
        prometheus("ridgebench_fleet_gpus_expected", "GPUs that the manifest expects.", iter([({}, expected)])),
        prometheus("ridgebench_fleet_gpus_measured", "GPUs with complete results.", iter([({}, measured)])),
        prometheus("ridgebench_fleet_exit_code", "Exit code of the report; larger is worse.", iter([({}, assessment.code)])),
        prometheus("ridgebench_fleet_planned_timestamp_seconds", "When the fleet was planned.",
               iter([({}, manifest.planned.timestamp() if manifest else None)])),
        prometheus("ridgebench_fleet_expected_false_flags", "False flags that a healthy fleet has at most in such a report.",
               iter([({}, assessment.expected.false_flags)])),
        prometheus("ridgebench_fleet_gpu_exit_code", "Exit code that the state of the GPU leads to; 0 is well.",
               ((_gpu_labels(v) | {"state": v.state}, code_of(v)) for v in gpus)),
        prometheus("ridgebench_fleet_gpu_lowest_ratio", "Lowest ratio to the median of the peers, and its row.", _lowest(assessment)),
        prometheus("ridgebench_fleet_row_median", "Median rate of the fleet, in the unit of the label.",
               ((labels, findings.median_rate(assessment, fleet, n)) for labels, n in of_rows if fleet)),
        prometheus("ridgebench_fleet_row_spread_ratio", "Standard deviation over median, estimated by the MAD.",
               ((labels, float(fleet.columns.own[n])) for labels, n in of_rows if fleet and fleet.columns)),
    ]  # fmt: skip
    return "".join([*parts, *(_of_soaks(assessment.soaks) if assessment.soaks else ())])
