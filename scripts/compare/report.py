"""What a comparison found, independent of how it is printed."""

from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from . import gate

SCHEMA = "ridgebench.comparison/1"
OK, USAGE, UNDECIDED_CODE, REGRESSION, INCOMPARABLE, ROW_FAILED, DEVICE_LOST, INTERNAL = (
    0, 2, 3, 4, 5, 6, 7, 8
)
MISSING, NOT_COMPARABLE, FAILED = "MISSING", "NOT_COMPARABLE", "FAILED"
DESCRIBED = "DESCRIBED"  # two stored runs: a difference, and no verdict
# Worst first, with the exit code that the verdict leads to.
CODES = {
    FAILED: ROW_FAILED,
    NOT_COMPARABLE: INCOMPARABLE,
    gate.WORSE: REGRESSION,
    MISSING: REGRESSION,
    gate.UNDECIDED: UNDECIDED_CODE,
    gate.BETTER: OK,
    gate.SAME: OK,
    DESCRIBED: OK,
    gate.NOT_GATED: OK,
}


@dataclass(slots=True)
class Cycles:
    """The same in cycles, where a held clock is known: what of the change is not the clock's."""

    verdict: str
    change: float


@dataclass(slots=True)
class Row:
    """One row of the comparison. Changes are of time, as shares: +0.02 is 2 % slower."""

    id: str
    verdict: str
    reason: Optional[str] = None
    change: Optional[float] = None
    low: Optional[float] = None  # 95 % interval of the change, for the eye
    high: Optional[float] = None
    beyond_noise: bool = False
    pairs: int = 0
    spread: Optional[float] = None  # of the log ratio of one pair
    smallest_change: Optional[float] = None  # that the pairs could have seen
    p_adjusted: Optional[float] = None  # of "no slower than the tolerance", Holm
    baseline_s: Optional[float] = None
    candidate_s: Optional[float] = None
    baseline_precision: Optional[float] = None  # half width of the interval within the run, share
    candidate_precision: Optional[float] = None
    cycles: Optional[Cycles] = None


@dataclass
class Report:
    kind: str  # interleaved, stored or baseline
    baseline: str
    candidate: str
    rows: list[Row]
    preset: Optional[str] = None
    notes: list[str] = field(default_factory=list)
    not_comparable: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        order = list(CODES)
        self.rows.sort(key=lambda r: (order.index(r.verdict), -abs(r.change or 0), r.id))

    @property
    def exit_code(self) -> int:
        refused = INCOMPARABLE if self.not_comparable else OK
        return max((CODES[row.verdict] for row in self.rows), default=refused)

    def counts(self) -> dict[str, int]:
        found = [row.verdict for row in self.rows]
        return {verdict: found.count(verdict) for verdict in CODES if verdict in found}

    def as_json(self) -> dict[str, Any]:
        """Strict JSON: no number of a report is infinite or nan."""
        limits = asdict(gate.PRESETS[self.preset]) if self.preset else None
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "is_verdict": self.kind != "stored",
            "baseline": self.baseline,
            "candidate": self.candidate,
            "preset": self.preset,
            "limits": limits,
            "alpha": gate.ALPHA if self.preset else None,
            "exit_code": self.exit_code,
            "counts": self.counts(),
            "not_comparable": self.not_comparable,
            "notes": self.notes,
            "rows": [asdict(row) for row in self.rows],
        }


def incomparable(kind: str, names: tuple[str, str], ids: list[str], why: list[str]) -> Report:
    """Every row of runs that must not be compared."""
    rows = [Row(name, NOT_COMPARABLE, "; ".join(why)) for name in ids]
    return Report(kind, *names, rows, not_comparable=why)
