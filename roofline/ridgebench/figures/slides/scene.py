"""The contents of a lecture figure or of the slides: devices, points and paths in one format."""

import os
from dataclasses import dataclass, field, replace
from typing import Iterable, Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.units import rate_in
from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.view import View
from ridgebench.figures.page.doubt import doubt
from ridgebench.figures.page.external import ABOVE, DOUBT
from ridgebench.figures.scene import roofline
from ridgebench.figures.scene.axes import Limits
from ridgebench.figures.scene.roofline import Roof

from . import devices, measured, model
from .devices import Device
from .model import Basis, Mark
from .options import DEFAULT_OPERATIONS, UserPoint

_MOST_DEVICES = 6
_PATH = "matmul"  # the operation whose sizes are a path


@dataclass(frozen=True)
class Shown:
    """A device with its points by the model, its measured points, and the sizes of matmul by either."""

    device: Device
    basis: Basis
    model: list[Mark]
    points: list[Mark]
    path: list[Mark]
    measured_path: list[Mark]
    letter: str = "n"  # the dimension that grows along the path
    fixed: int = 0  # m and n, where that is k

    @property
    def marks(self) -> list[Mark]:
        return [*self.model, *self.points, *self.path, *self.measured_path]

    def roofs_beside(self, flats: bool = True, more: Iterable[Mark] = ()) -> list[Roof]:
        """The roofs of its points by the model, and of `more`, beside the roof of matrix products."""
        return model.roofs_beside(self.basis.roof, [*self.model, *self.path, *more], flats)


@dataclass(frozen=True)
class Scene:
    format: str
    shown: list[Shown]
    own_points: list[Mark] = field(default_factory=list)

    @property
    def first(self) -> Shown:
        return self.shown[0]

    @property
    def measured(self) -> bool:
        """True if it has a measured roof or point."""
        return any(one.device.measured_roof or any(mark.measured for mark in one.marks) for one in self.shown)

    @property
    def doubt(self) -> str:
        """The doubts on the run's rows in this format; empty without a run."""
        view = self.first.device.view
        return doubt(view.only(self.format)) if view else ""

    @property
    def every_doubt(self) -> str:
        """The doubts on the rows of all formats."""
        return doubt(self.first.device.view) if self.first.device.view else ""

    @property
    def unit(self) -> tuple[str, float]:
        host = all(one.device.host for one in self.shown)
        return ("GFLOP/s", 1e9) if host else ("TFLOP/s", 1e12)

    def rate(self, flops_per_s: float) -> str:
        """A rate in the unit of the axis: 0.838 TFLOP/s."""
        return rate_in(flops_per_s, self.unit[1], "FLOP/s")

    @property
    def roofs(self) -> list[Roof]:
        both = [(one.device.sheet_roof, one.device.measured_roof) for one in self.shown]
        return [roof for pair in both for roof in pair if roof]


def open_devices(view: Optional[View], names: list[str], format_: Optional[str]) -> tuple[str, list[Device]]:
    """The format and the devices of a run and of data sheets. Raises ResultsError, which names what is allowed."""
    for name in filter(os.path.isdir, names):
        raise ResultsError(f"--on {name}: is a folder; allowed: a data sheet, and a results directory without --on")
    names = list(dict.fromkeys(devices.known_as(name, find_sheet(name)) for name in names))
    if len(names) + (view is not None) > _MOST_DEVICES:
        raise ResultsError(f"{len(names)} devices; a figure can hold up to {_MOST_DEVICES}")
    chosen = format_ or devices.default_format(view, names)
    found = [devices.of_sheet(name, chosen) for name in names]
    if view is None:
        return chosen, found
    own = devices.of_run(view, chosen)
    allowed = devices.formats_of(view)
    if own is None or (not own.on and chosen not in allowed):
        raise ResultsError(f"the run has no roof for {chosen}; allowed: {', '.join(allowed) or 'none'}")
    return chosen, [own, *(one for one in found if one.on != own.on)]


def usual(format_: str) -> tuple[str, ...]:
    """The operations of the lecture that have a format: only matmul has tf32."""
    return DEFAULT_OPERATIONS if not format_.startswith("tf32") else (_PATH,)


def show(device: Device, ops: tuple[str, ...], format_: str, basis: Optional[Basis] = None) -> Shown:
    """The points of a device, squares as its path. A measured operation is predicted at its measured size."""
    basis = basis or basis_of(device, format_)
    others = [op for op in ops if op != _PATH]
    rows = [row for op in others if device.view and (row := measured.best(device.view, format_, op))]
    points = [measured.mark_of(row, device.view) for row in rows]
    known = {mark.op: mark for mark in points}
    predicted = [_at_size(basis, known[mark.op], format_) if mark.op in known else mark
                 for mark in model.served(basis, others, format_, device.host)]
    squares = measured.squares(device.view, format_) if device.view and _PATH in ops else []
    grown = model.sizes(basis.roof, format_, [mark.size for mark in squares]) if _PATH in ops else []
    return Shown(device, basis, predicted, points, model.path(basis, format_, grown), squares)


def along_the_slope(shown: Shown, format_: str) -> Shown:
    """The same with a product over k as its path, where that begins nearer to the roof than the squares do.

    On a host the launch limits the squares that memory would limit; a product with a large C is never that short.
    """
    squares = shown.measured_path
    side, deep = measured.growing_depth(shown.device.view, format_) if squares and shown.device.view else (0, [])
    if not deep or _begins(deep, shown.basis, format_) <= _begins(squares, shown.basis, format_):
        return shown
    grown = [mark.size for mark in deep]
    path = model.path(shown.basis, format_, grown, lambda k: model.depth_of(k, side))
    return replace(shown, path=path, measured_path=deep, letter="k", fixed=side)


def _begins(marks: list[Mark], basis: Basis, format_: str) -> float:
    """The share of the roof that the smallest size reaches."""
    first = marks[0]
    written = model.written_share(first.op, first.shape, format_)
    return basis.limit(first.op, written).share(first.place)


def basis_of(device: Device, format_: str) -> Basis:
    """The roofs of the run's own rows where it has measured some, else the data sheet."""
    if device.measured_roof and device.view:
        return Basis(device.measured_roof, view=device.view.only(format_))
    return Basis(device.roof, device.on)


def _at_size(basis: Basis, found: Mark, format_: str) -> Mark:
    """The model's answer for a measured point's work."""
    if basis.on:
        return model.mark(basis, found.op, found.shape, format_)
    limit = basis.limit(found.op)
    rate = limit.at(found.intensity)
    return replace(found, rate=rate, seconds=found.flops / rate, measured=False, technique="", limit=limit)


def make(view: Optional[View], names: list[str], format_: Optional[str], ops: Optional[tuple[str, ...]] = None,
         points: tuple[UserPoint, ...] = ()) -> Scene:  # fmt: skip
    """The scene of a lecture figure. Raises ResultsError."""
    chosen, found = open_devices(view, names, format_)
    shown = ops or usual(chosen)
    own = [Mark("", point.intensity, point.flops_per_s, 0.0, 0.0, measured=False, name=point.name) for point in points]
    return Scene(chosen, [along_the_slope(show(device, shown, chosen), chosen) for device in found], own)


def limits(scene: Scene, more: tuple[Roof, ...] = (), grown: tuple[Mark, ...] = ()) -> tuple[Limits, Limits]:
    """Limits (log10) that hold roofs, ridges and points; the lower ones are whole decades."""
    marks = [*(mark for one in scene.shown for mark in one.marks), *scene.own_points, *grown]
    roofs = [*scene.roofs, *more, *(mark.limit for mark in marks if mark.limit)]
    return roofline.limits([mark.place for mark in marks], [roof.lines for roof in roofs], roofline.LECTURE, scene.unit[1])


def questions(scene: Scene) -> list[str]:
    """A line for each point of the user's above every roof: units or counts are in doubt."""
    found = []
    for mark in scene.own_points:
        roof = max(one.at(mark.intensity) for one in scene.roofs)
        if mark.rate > ABOVE * roof:
            found.append(f"{mark.name}: {mark.rate / 1e12:.4g} TFLOP/s is above the roof of {roof / 1e12:.4g} TFLOP/s: "
                         f"{DOUBT}")
    return found
