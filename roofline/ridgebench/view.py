"""The rows of one device, perhaps of one format, and a data sheet."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Optional

from ridgebench.data_sheets import Sheet
from ridgebench.records import ResultsError, Row, Run
from ridgebench.roofs import is_roof, judged

ORDER = ("fp32", "tf32x3", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")
MOVED = 0.02  # a control that differs by more says that the machine changed during the run
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

    @cached_property
    def verified_ceilings(self) -> list[Row]:
        return [row for row in self.rows if row.role == "ceiling" and row.status == "ok"]

    @cached_property
    def ceilings(self) -> list[Row]:
        """The verified ceilings that judge kernels."""
        return list(filter(is_roof, self.verified_ceilings))

    @cached_property
    def moved(self) -> dict[str, float]:
        """The ceilings whose control at the end of the run differs by more than MOVED, with the relative change.

        The copy is the control of all ceilings of the memory.
        """
        again = {row.id.removesuffix(":control"): row for row in self.rows if row.role == "control" and row.rate}
        found = {row.id: again[row.id].rate / row.rate - 1 for row in self.ceilings if row.rate and row.id in again}
        copies = [found[row.id] for row in self.ceilings if row.saturates == "memory" and row.id in found]
        if copies:
            memory = max(copies, key=abs)
            found |= {row.id: memory for row in self.ceilings if row.saturates == "memory" and row.id not in found}
        return {ceiling: change for ceiling, change in found.items() if abs(change) > MOVED}

    def unsettled(self, row: Row) -> list[str]:
        """The ceilings that limit a row and whose control moved: its share of the roof is no finding."""
        roof = row.roof or {}
        sides = {"compute": ["compute_ceiling"], "memory": ["memory_ceiling"]}
        keys = sides.get(row.bound or "", ["compute_ceiling", "memory_ceiling"])
        return [roof[key] for key in keys if roof.get(key) in self.moved]

    @property
    def not_ok(self) -> list[Row]:
        ceilings = [row for row in self.rows if row.role == "ceiling"]
        return [row for row in ceilings + self.selected if row.status not in ("ok", "unverified")]

    def is_own(self, sheet: Sheet) -> bool:
        """Whether a data sheet is that of the measured device."""
        return sheet.name == self.device["data_sheet"]

    @property
    def own_sheet(self) -> Optional[Sheet]:
        return next(filter(self.is_own, self.sheets), None)

    @property
    def foreign_sheet(self) -> bool:
        """Whether a data sheet is of another device than the measured one."""
        return not all(map(self.is_own, self.sheets))

    @property
    def unit(self) -> tuple[str, float]:
        """TFLOP/s on a GPU, GFLOP/s on a host; points of other tools alone have that of the fastest one."""
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
    """The named device, or the first one that has rows, judged by the raised roofs."""
    measured = {row.device for row in run.rows}
    devices = {device["name"]: device for device in run.environment["devices"]}
    chosen = name or next(device for device in devices if device in measured)
    if chosen not in measured:
        raise ResultsError(f"no records of device {chosen!r}; there are {', '.join(devices)}")
    rows = [row for row in run.rows if row.device == chosen]
    return View(run.environment, devices[chosen], judged(rows), run.torn)
