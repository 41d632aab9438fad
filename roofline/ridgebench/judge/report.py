"""The report of a comparison: its verdicts, its exit code, its text and its JSON."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from ridgebench.base.command_line import INCOMPARABLE, OK, REGRESSION, ROW_FAILED, UNDECIDED
from ridgebench.base.printers import aligned
from ridgebench.base.text import clean, ends, short
from ridgebench.base.units import counted

from . import gate

HIGHER = ", higher is better"  # the end of a metric's description, by which readers know its direction

_SCHEMA = "urn:ridgebench:comparison:1"
MISSING, NOT_COMPARABLE, FAILED = "MISSING", "NOT_COMPARABLE", "FAILED"
NEW = "NEW"  # only the candidate has the row
ALLOWED = "ALLOWED"  # a loss that the file of tolerances states, with its reason
DESCRIBED = "DESCRIBED"  # two stored runs: a difference, and no verdict
# Worst first, with the exit code that the verdict leads to.
CODES = {
    FAILED: ROW_FAILED,
    NOT_COMPARABLE: INCOMPARABLE,
    gate.WORSE: REGRESSION,
    MISSING: REGRESSION,
    gate.UNDECIDED: UNDECIDED,
    ALLOWED: OK,
    gate.BETTER: OK,
    gate.SAME: OK,
    DESCRIBED: OK,
    NEW: OK,
    gate.NOT_GATED: OK,
}
_UNJUDGED = (NEW, gate.NOT_GATED)
_MOST_SHARE = 100  # that a column of the text shows as per cent
_LONGEST_NAME = 120  # characters of a row in the text
MOST_ROWS = 60  # of the text; the JSON holds all
_TIME, _CHANGE = "time", "change"
_HEADER = ["verdict", "row", _TIME, "95 % interval", "in cycles", "tolerance", "spread", "detectable", "reason"]


def with_words(reason: Optional[str], *words: str) -> Optional[str]:
    """A reason, and further words after it; None if all are empty."""
    return "; ".join(filter(None, [reason, *words])) or None


@dataclass
class Cycles:
    """The same change in clock cycles, where both clocks are known: what is left of it is not the clock's."""

    verdict: str
    change: float


@dataclass
class Comparison:
    """One row on both sides. Changes are of time, as shares: +0.02 is 2 % slower."""

    id: str
    verdict: str
    reason: Optional[str] = None
    change: Optional[float] = None
    low: Optional[float] = None  # 95 % interval of the change; the verdict has bounds of its own
    high: Optional[float] = None
    beyond_noise: bool = False
    pairs: int = 0
    spread: Optional[float] = None  # of the log ratio of one pair
    smallest_change: Optional[float] = None  # that the pairs detect
    p_adjusted: Optional[float] = None  # of "no slower than the tolerance", Holm
    baseline_s: Optional[float] = None
    candidate_s: Optional[float] = None
    baseline_precision: Optional[float] = None  # half width of the interval within the run, share
    candidate_precision: Optional[float] = None
    cycles: Optional[Cycles] = None
    chance: Optional[float] = None  # of a verdict by the last look, for an undecided row
    tolerance: Optional[float] = None  # where the row has limits of its own, as shares
    margin: Optional[float] = None
    baseline_value: Optional[float] = None  # of the report's metric, if that is not a time
    candidate_value: Optional[float] = None
    code: Optional[str] = None  # same code, changed or unknown, where the programs' machine code was compared


@dataclass
class Report:
    """All rows, the worst first. kind: interleaved, stored, baseline or code."""

    kind: str
    baseline: str
    candidate: str
    rows: list[Comparison]
    preset: Optional[str] = None
    notes: list[str] = field(default_factory=list)
    not_comparable: list[str] = field(default_factory=list)
    looks: tuple[int, ...] = ()  # pairs after which the rows were judged
    metric: Optional[str] = None  # which number of another program was compared, and which values are better

    def __post_init__(self) -> None:
        self.sort()

    def sort(self) -> None:
        order = list(CODES)
        self.rows.sort(key=lambda r: (order.index(r.verdict), -abs(r.change or 0), r.id))

    @property
    def exit_code(self) -> int:
        if self.not_comparable and not self.rows:
            return INCOMPARABLE
        return max([CODES[row.verdict] for row in self.rows] + [UNDECIDED if self.nothing_judged else OK])

    @property
    def nothing_judged(self) -> bool:
        """True if no row says anything about the code: that is not a pass."""
        return all(row.verdict in _UNJUDGED for row in self.rows)

    def counts(self) -> dict[str, int]:
        """Rows by verdict."""
        found = [row.verdict for row in self.rows]
        return {verdict: found.count(verdict) for verdict in CODES if verdict in found}

    def as_json(self) -> dict[str, Any]:
        """The whole report; no number in it is infinite or nan."""
        preset = gate.PRESETS[self.preset] if self.preset else None
        limits = {"tolerance": preset.tolerance, "margin": preset.margin} if preset else None
        head = {"schema": _SCHEMA, "is_verdict": self.kind not in ("stored", "code"), "exit_code": self.exit_code}
        head |= {"counts": self.counts(), "limits": limits, "alpha": gate.ALPHA if self.preset else None}
        return head | _finite(asdict(self))


def _finite(value: Any) -> Any:
    """The value with null in place of every number that JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def incomparable(kind: str, names: tuple[str, str], ids: list[str], why: list[str]) -> Report:
    """The report on runs that must not be compared: every row says why."""
    rows = [Comparison(name, NOT_COMPARABLE, "; ".join(why)) for name in ids]
    return Report(kind, *names, rows, not_comparable=why)


def percent(share: Optional[float], sign: str = "+") -> str:
    if share is None:
        return ""
    return f"{100 * share:{sign}.2f} %" if abs(share) < _MOST_SHARE else "beyond measure"


def reason(row: Comparison) -> str:
    """Why the row has its verdict or, for two stored runs, the precision of both."""
    parts = [row.reason or ""]
    if row.verdict == DESCRIBED and row.baseline_precision is not None:
        both = (row.baseline_precision, row.candidate_precision)
        parts.append("precision ±" + ", ±".join(percent(p, "") for p in both))
    return "; ".join(filter(None, parts))


def _cells(row: Comparison) -> list[str]:
    """A line of the table, under _HEADER."""
    verdict = "not a verdict" if row.verdict == DESCRIBED else row.verdict
    interval = "" if row.low is None else f"{percent(row.low)} .. {percent(row.high)}".replace(" % ..", " ..")
    cycles = f"{percent(row.cycles.change)} {row.cycles.verdict}" if row.cycles else ""
    return [
        verdict, ends(clean(row.id), _LONGEST_NAME), percent(row.change), interval, cycles, percent(row.tolerance, ""),
        percent(row.spread, ""), percent(row.smallest_change, ""), clean(reason(row)),
    ]


def _table(rows: list[Comparison]) -> list[str]:
    """The rows under _HEADER, without columns that are empty. A metric that is no time has a change."""
    header = [_CHANGE if name == _TIME and any(row.baseline_value is not None for row in rows) else name for name in _HEADER]
    lines = [header, *map(_cells, rows)]
    used = [i for i in range(len(_HEADER)) if any(line[i] for line in lines[1:])]
    return aligned([[line[i] for i in used] for line in lines])


def _explanation(report: Report) -> list[str]:
    lines = []
    if report.kind == "stored" and not report.not_comparable:
        lines.append(
            "Stored results: not a verdict. Runs differ by more than their "
            "precision; `ridgebench gate` judges."
        )
    if report.kind == "code":
        lines.append("Nothing was measured: SAME is the same machine code, UNDECIDED has to be measured.")
    if report.metric:
        inverse = " Its inverse represents a time." if report.metric.endswith(HIGHER) else ""
        lines.append(f"Compared: {clean(report.metric)}.{inverse}")
    if report.preset:
        p = gate.PRESETS[report.preset]
        detectable = "a change beyond the tolerance that this number of pairs finds in three cases of four"
        if report.kind == "baseline":
            detectable = "the smallest change that is beyond the noise of the baseline"
        lines.append(
            f"Preset {report.preset}: WORSE if surely more than {percent(p.tolerance, '')} slower, "
            f"SAME if surely less than {percent(p.margin, '')} slower; alpha {gate.ALPHA} per row. `detectable`: {detectable}."
        )
    if report.kind == "interleaved" and report.counts().get(gate.UNDECIDED):
        lines.append(
            "UNDECIDED is not a pass. A quieter machine decides (end other programs), or more time per process "
            "(a larger --budget of ridgebench, more --benchmark_repetitions of Google Benchmark)."
        )
    if report.nothing_judged:
        lines.append("Nothing was judged: no row says anything about the code. This is not a pass.")
    return lines + [f"Note: {clean(short(note))}" for note in report.notes]


def text(report: Report) -> str:
    """The report for the terminal: the worst rows first, the rest of many rows counted."""
    counts = ", ".join(
        f"{n} {'described' if verdict == DESCRIBED else verdict}" for verdict, n in report.counts().items()
    )
    headline = f"{counted(len(report.rows), 'row')}: {counts or 'none'}"
    lines = [f"baseline:  {clean(report.baseline)}", f"candidate: {clean(report.candidate)}"]
    if report.not_comparable:
        lines += [f"{NOT_COMPARABLE}: {clean(short(why))}" for why in report.not_comparable]
        return "\n".join([*lines, headline]) + "\n"
    lines += _table(report.rows[:MOST_ROWS])
    if len(report.rows) > MOST_ROWS:
        lines.append(f"... {counted(len(report.rows) - MOST_ROWS, 'more row')}; --json FILE has all")
    return "\n".join([*lines, headline, *_explanation(report)]) + "\n"
