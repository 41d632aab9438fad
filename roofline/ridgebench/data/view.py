"""The rows of one device, perhaps of one format, and a data sheet."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Optional

from ridgebench.base.files import ResultsError

from .data_sheets import Sheet
from .judged import Judgement, judged
from .records import Row, Run

ORDER = ("fp32", "tf32x3", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")
PRODUCTS = ("matmul", "matmul_gelu")
OPERATIONS = ("relu", "gelu", "dot", "matvec", "matmul", "matmul_gelu")


def ordered(found: set[str], known: tuple[str, ...]) -> list[str]:
    """Known names in the lecture's order, then the others by name."""
    return [name for name in known if name in found] + sorted(found - set(known))


@dataclass(frozen=True)
class View:
    environment: dict[str, Any]
    device: dict[str, Any]
    rows: list[Row]
    torn: bool
    format: Optional[str] = None
    sheets: tuple[Sheet, ...] = ()
    judgement: Judgement = field(default_factory=Judgement)

    @cached_property
    def selected(self) -> list[Row]:
        """Kernel rows of the chosen format, whatever their status."""
        kernels = [row for row in self.rows if row.role == "kernel"]
        return [row for row in kernels if self.format in (None, row.format)]

    @cached_property
    def points(self) -> list[Row]:
        """The rows that are drawn as points: verified, of the steady regime only."""
        return [row for row in self.selected if row.drawable and row.regime == "steady"]

    @cached_property
    def external(self) -> list[Row]:
        """The rows that another tool measured. No finding rests on them."""
        return [row for row in self.selected if row.external]

    @property
    def before(self) -> dict[str, Any]:
        """Readings of the device before the first row, when the run had no kernel on it."""
        return ((self.environment.get("state") or {}).get("before") or {}).get(self.device["name"]) or {}

    @cached_property
    def verified_ceilings(self) -> list[Row]:
        return [row for row in self.rows if row.role == "ceiling" and row.status == "ok"]

    @cached_property
    def ceilings(self) -> list[Row]:
        """The verified ceilings that judge kernels."""
        return [row for row in self.rows if row.is_roof]

    @cached_property
    def moved(self) -> dict[str, float]:
        """The ceilings of these rows whose control at the end of the run moved, with the relative change."""
        known = {row.id for row in self.ceilings} | {ceiling for row in self.selected for ceiling in row.limited_by}
        return {ceiling: change for ceiling, change in self.judgement.moved.items() if ceiling in known}

    def unsettled(self, row: Row) -> list[str]:
        """The ceilings that limit a row and whose control moved: its share of the roof is not a finding."""
        return list(row.doubted)

    @cached_property
    def why_unfinished(self) -> str:
        """Why no row may head anything: the run did not end. Empty of a whole run."""
        return self.judgement.unfinished

    def may_head(self, row: Row) -> bool:
        """True if a title, a slide or a summary may rest on the row: the run could finish it, and caches did not serve it."""
        return not (self.why_unfinished or row.cut_by_budget or row.served_by_cache)

    @property
    def not_ok(self) -> list[Row]:
        ceilings = [row for row in self.rows if row.role == "ceiling"]
        return [row for row in ceilings + self.selected if row.status not in ("ok", "unverified")]

    def is_own(self, sheet: Sheet) -> bool:
        """True if a data sheet is that of the measured device."""
        return sheet.name == self.device["data_sheet"]

    @property
    def own_sheet(self) -> Optional[Sheet]:
        return next(filter(self.is_own, self.sheets), None)

    @property
    def foreign_sheet(self) -> bool:
        """True if a data sheet is of another device than the measured one."""
        return not all(map(self.is_own, self.sheets))

    @property
    def unit(self) -> tuple[str, float]:
        """TFLOP/s on a GPU, GFLOP/s on a host; points of only other tools have that of the fastest one."""
        if "imported" in self.environment:
            small = max((row.flops_per_s or 0.0 for row in self.external), default=0.0) < 1e12
        else:
            small = self.device["backend"] == "cpu"
        return ("GFLOP/s", 1e9) if small else ("TFLOP/s", 1e12)

    @cached_property
    def formats(self) -> list[str]:
        return ordered({row.format for row in self.points + self.external}, ORDER)

    @cached_property
    def operations(self) -> list[str]:
        return ordered({row.op for row in self.points}, OPERATIONS)

    def only(self, name: str) -> "View":
        return replace(self, format=name)

    def with_sheets(self, *sheets: Sheet) -> "View":
        return replace(self, sheets=sheets)


def make_view(run: Run, name: Optional[str]) -> View:
    """The named device, or the first one that has rows, under their roofs."""
    run = judged(run)
    measured = {row.device for row in run.rows}
    devices = {device["name"]: device for device in run.environment["devices"]}
    chosen = name or next(device for device in devices if device in measured)
    if chosen not in measured:
        raise ResultsError(f"no records of device {chosen!r}; there are {', '.join(devices)}")
    rows = [row for row in run.rows if row.device == chosen]
    return View(run.environment, devices[chosen], rows, run.torn, judgement=run.judgement)
