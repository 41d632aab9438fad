"""The report as JSON; results/schema/fleet_report.schema.json describes it."""

import math
from typing import Any, Optional

from ridgebench.base.text import one_line
from ridgebench.fleet import findings
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.manifest import text_of
from ridgebench.fleet.matrix import Group
from ridgebench.fleet.soaks import Soak
from ridgebench.fleet.states import Mark, Verdict, code_of

_SCHEMA = "urn:ridgebench:fleet_report:1"


def known(value: float, digits: int = 6) -> Optional[float]:
    """The number with some significant digits, so that the file does not depend on the last bits; None for NaN."""
    return None if math.isnan(value) or math.isinf(value) else float(f"{value:.{digits}g}")


def _mark(assessment: Assessment, one: Mark) -> dict[str, Any]:
    column = assessment.columns[one.column]
    return {
        "pass": column.pass_, "row": column.row, "per_clock": column.per_clock, "ratio": known(one.ratio),
        "z": known(one.z), "data_sheet_ratio": known(one.sheet),
    }  # fmt: skip


def _gpu(assessment: Assessment, verdict: Verdict) -> dict[str, Any]:
    one = verdict.gpu
    return {
        "node": one.node, "index": one.index, "uuid_hash": one.uuid_hash, "model": one.model, "attempt": one.attempt,
        "state": verdict.state, "severity": verdict.severity, "confirmed": verdict.confirmed,
        "whole_node": verdict.of_node, "exit_code": code_of(verdict), "reason": verdict.reason or None,
        "notes": verdict.notes, "next": verdict.next or None,
        "lowest": _mark(assessment, verdict.worst) if verdict.worst else None,
        "slow": [_mark(assessment, each) for each in verdict.slow],
    }  # fmt: skip


def _finding(one: findings.Finding) -> dict[str, Any]:
    return {
        "severity": one.severity, "state": one.state, "node": one.node or None, "indexes": list(one.indexes),
        "whole_node": one.whole, "reason": one.reason, "next": one.next or None,
    }  # fmt: skip


def _soak(one: Soak) -> dict[str, Any]:
    """The keys in the order of Soak, with its sums in place of what follows from them."""
    errors = [{**vars(each), "units": list(each.units), "phases": dict(each.phases)} for each in one.errors]
    return {
        "node": one.node, "index": one.index, "device": one.device, "uuid_hash": one.uuid_hash, "model": one.model,
        "folder": one.folder, "state": one.state, "severity": one.severity, "exit_code": one.code, "reason": one.reason or None,
        "planned_s": one.planned_s, "elapsed_s": one.elapsed_s, "bytes": one.bytes, "mismatches": one.mismatches,
        "bits": one.bits, "errors": errors, "faults": list(one.faults), "left_out": list(one.left_out),
    }  # fmt: skip


def _rows(assessment: Assessment, number: int, group: Group) -> list[dict[str, Any]]:
    """The columns of a judged group."""
    parts = group.columns
    return [
        {
            "group": number, "pass": column.pass_, "row": column.row, "unit": column.unit, "per_clock": column.per_clock,
            "gpus": int(parts.count[n]), "median": known(float(findings.median_rate(assessment, group, n))),
            "spread": known(float(parts.own[n])), "z_limit": known(float(parts.limit[n])), "slow_below": known(float(parts.cut[n])),
        }
        for n, column in enumerate(assessment.columns)
    ] if parts is not None else []  # fmt: skip


def document(assessment: Assessment) -> dict[str, Any]:
    """Only what the files say: two calls make the same text."""
    measured, expected = findings.coverage(assessment)
    manifest, own = assessment.fleet.manifest, assessment.expected
    return {
        "schema": _SCHEMA,
        "fleet": one_line(str(assessment.fleet.folder)),
        "planned": text_of(manifest.planned) if manifest else None,
        "suite": manifest.suite if manifest else None,
        "exit_code": assessment.code,
        "title": findings.title(assessment),
        "coverage": {"measured": measured, "expected": expected},
        "states": findings.counts(assessment),
        "flagged": findings.flagged(assessment),
        "findings": [_finding(one) for one in findings.findings(assessment)],
        "groups": [
            {"gpus": len(group.members), "judged": group.columns is not None, "differs": list(group.differs)}
            for group in assessment.groups
        ],
        "rows": [row for n, group in enumerate(assessment.groups) for row in _rows(assessment, n, group)],
        "expected": {
            "comparisons": own.comparisons, "spread": known(own.spread), "false_flags": known(own.false_flags, 3),
            "found": [{"slower": slower, "chance": known(chance, 3)} for slower, chance in own.found.items()],
            "slower_found_in_nine_of_ten": known(own.least_found),
        },
        "differences": [
            {"key": key, "values": [{"value": one.value, "gpus": one.gpus, "nodes": one.nodes} for one in values]}
            for key, values in findings.differences(assessment).items()
        ],
        "gpus": [_gpu(assessment, verdict) for verdict in assessment.verdicts],
        "soaks": [_soak(one) for one in assessment.soaks],
    }  # fmt: skip
