"""The slide that puts a measured host beside an H100: both roofs, and the times of the same operations."""

from dataclasses import dataclass
from typing import Optional

from ridgebench.base.units import digits
from ridgebench.figures.page.finding import spoken
from ridgebench.figures.scene.roofline import Roof

from . import build_up, devices, drawing, figure, model, scene, titles
from .deck import COMPARED, Deck, Slide, Stage
from .devices import Device
from .layout import SLIDE, fits
from .model import Basis, Mark
from .plane import Plane
from .scene import Scene, Shown

_OTHER = COMPARED[0]
_COLUMNS = (0.49, 0.76, 1.0)  # right ends of the times, and of their ratio, as shares of the panel's width


@dataclass(frozen=True)
class _Both:
    """One operation at one size: measured on the host, and by the data sheet of the other device."""

    here: Mark
    there: Mark

    @property
    def times(self) -> float:
        return self.here.seconds / self.there.seconds


def _pairs(deck: Deck, other: Device) -> list[_Both]:
    marks = [*deck.shown.points, *deck.shown.measured_path[-1:]]
    basis = Basis(other.roof, other.on)
    return [_Both(mark, model.mark(basis, mark.op, mark.shape, deck.scene.format)) for mark in marks]


def _other(deck: Deck) -> Optional[Device]:
    """The device beside the host; None if its data sheet lacks the format."""
    if not deck.device.host or devices.sheet_roof(devices.find_sheet(_OTHER), deck.scene.format) is None:
        return None
    return devices.of_sheet(_OTHER, deck.scene.format)


def _title(deck: Deck, here: Roof, there: Roof, name: str) -> str:
    """How many times the bandwidth and the peak; an unfinished or drifting run claims neither."""
    if deck.scene.doubt:
        return f"This machine and an {name} under one pair of axes"
    faster, more = digits(round(there.bytes_per_s / here.bytes_per_s, 1)), digits(round(there.flops_per_s / here.flops_per_s, 1))
    whole = f"An {name} has {faster} times this machine's bandwidth and {more} times its arithmetic"
    return whole if fits(SLIDE, whole) else f"{name}: {faster} times the bandwidth, {more} times the arithmetic"


def slides(deck: Deck) -> list[Slide]:
    """The slide after a run on a host; none otherwise."""
    other = _other(deck)
    both = _pairs(deck, other) if other else []
    if other is None or not both:
        return []
    here, there = deck.roof, other.roof
    words = f"The same operations of the same sizes in {deck.scene.format}: measured here, and by the data sheet of an {other.name}."

    def draw(stage: Stage) -> None:
        shown = [Shown(one, Basis(roof), marks, [], [], []) for one, roof, marks in (
            (deck.device, here, [pair.here for pair in both]), (other, there, [pair.there for pair in both]))]
        _draw(stage, Scene(deck.scene.format, shown))
        build_up.say(stage, words)
        _table(stage, both, other.name)

    lines = [f"{spoken(pair.here.op)}: {titles.duration(pair.here.seconds)} here, {titles.duration(pair.there.seconds)} there, "
             f"{digits(pair.times)} times" for pair in both]
    last = both[-1].there
    command = f"ridgebench predict {last.op} {last.shape} --format {deck.scene.format} --on {_OTHER}"
    return [Slide("machine", _title(deck, here, there, other.name), words, lines, command, 4, draw, axes=False,
                  own_plane=True, measured=True)]


def _draw(stage: Stage, both: Scene) -> None:
    """Both roofs with their points, on axes that hold them."""
    plane = Plane(stage.figure, stage.page, stage.panel.layout, stage.theme, scene.limits(both), both.unit)
    for index, shown in enumerate(both.shown):
        colour = figure.device_hue(index, stage.theme)
        drawing.roof(plane, shown.basis.roof, colour, 0.8, figure.DASHES[index])
        drawing.ridge(plane, shown.basis.roof, colour)
        for mark in shown.model:
            drawing.mark(plane, mark, colour, 0.85)
        top = shown.basis.roof
        plane.wish("this machine" if not index else shown.device.name, top.ridge * 3, top.flops_per_s, drawing.legible(colour, stage.theme))
    first, *others = reversed(both.shown[1].model)
    for mark in (first, *reversed(others)):  # the plane takes six names
        plane.wish(spoken(mark.op), mark.intensity, mark.rate, stage.theme.ink)
    plane.place_labels()


def _short(times: float) -> str:
    """A ratio in five characters: 70.4, 1,234, 200k."""
    return digits(times) if times < 1e4 else f"{times / 1e3:.0f}k"


def column_of(seconds: list[float]) -> tuple[list[str], str]:
    """The times of a column in the unit that makes its longest text the shortest, and that unit."""
    units = (("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("ns", 1e-9))
    columns = [([digits(value / scale) for value in seconds], unit) for unit, scale in units]
    return min(columns, key=lambda column: max(map(len, column[0])))


def _table(stage: Stage, both: list[_Both], name: str) -> None:
    """The time of each operation on both devices, and how many times as long it takes here."""
    panel = stage.panel
    size = panel.layout.text
    panel.gap(0.7)
    here, unit = column_of([pair.here.seconds for pair in both])
    there, other_unit = column_of([pair.there.seconds for pair in both])
    rows = [("", "here", name.split()[0], ""), ("", unit, other_unit, ""),
            *((spoken(pair.here.op), *times, f"{_short(pair.times)}×") for pair, *times in zip(both, here, there))]
    for index, (op, *values) in enumerate(rows):
        weight = "normal" if index > 1 else "bold"
        stage.page.text(panel.box.left, panel.y, op, size=size, va="top")
        for share, text in zip(_COLUMNS, values):
            stage.page.text(panel.box.left + share * panel.width, panel.y, text, size=size, va="top", ha="right", weight=weight)
        panel.gap(1.2)
