"""The rows of one device, perhaps of one format, and a data sheet."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Optional

from ridgebench.data_sheets import Sheet
from ridgebench.records import ResultsError, Row, Run

ORDER = ("fp32", "tf32x3", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")
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
    sheet: Optional[Sheet] = None

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
    def ceilings(self) -> list[Row]:
        return [row for row in self.rows if row.role == "ceiling" and row.status == "ok"]

    @property
    def not_ok(self) -> list[Row]:
        ceilings = [row for row in self.rows if row.role == "ceiling"]
        return [row for row in ceilings + self.selected if row.status != "ok"]

    @property
    def foreign_sheet(self) -> bool:
        """Whether the data sheet is of another device than the measured one."""
        return self.sheet is not None and self.sheet.name != self.device["data_sheet"]

    @property
    def unit(self) -> tuple[str, float]:
        """TFLOP/s on a GPU, GFLOP/s on a host."""
        return ("GFLOP/s", 1e9) if self.device["backend"] == "cpu" else ("TFLOP/s", 1e12)

    @cached_property
    def formats(self) -> list[str]:
        return ordered({row.format for row in self.points}, ORDER)

    @cached_property
    def operations(self) -> list[str]:
        return ordered({row.op for row in self.points}, OPERATIONS)

    def only(self, name: str) -> "View":
        return replace(self, format=name)

    def with_sheet(self, sheet: Sheet) -> "View":
        return replace(self, sheet=sheet)


def make_view(run: Run, name: Optional[str]) -> View:
    """The named device, or the first one that has rows."""
    measured = {row.device for row in run.rows}
    devices = {device["name"]: device for device in run.environment["devices"]}
    chosen = name or next(device for device in devices if device in measured)
    if chosen not in measured:
        raise ResultsError(f"no records of device {chosen!r}; there are {', '.join(devices)}")
    rows = [row for row in run.rows if row.device == chosen]
    return View(run.environment, devices[chosen], rows, run.torn)
