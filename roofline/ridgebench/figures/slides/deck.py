"""The slides' common ground: the scene by its data sheet, the paths, the other devices, and one page."""

from dataclasses import dataclass, field, replace
from typing import Callable, Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.steps import Step
from ridgebench.data.view import ORDER, View, ordered
from ridgebench.figures.page.roofs import SAME
from ridgebench.figures.page.style import Theme
from ridgebench.figures.scene.axes import Limits
from ridgebench.figures.scene.roofline import Roof

from . import devices, measured, model, scene
from .devices import Device
from .layout import SLIDE, draw_foot, draw_head, new_page, with_foot
from .model import Basis, Mark
from .panel import Panel
from .plane import Plane
from .scene import Scene, Shown

COMPARED = ("h100-sxm", "h200", "b200")  # devices of the slide that compares
_LEAST_DEVICES = 3


@dataclass(frozen=True)
class Format:
    """Formats with one roof; the first one gives hue, dash and letter."""

    names: tuple[str, ...]
    roof: Roof


@dataclass(frozen=True)
class Deck:
    scene: Scene
    batching: list[Mark]  # matmul of 1 to 4096 rows, by the model
    measured_batching: list[Mark]
    depth: int  # its k = n
    formats: list[Format]
    compared: list[Device]
    beside: list[Shown]  # those of them that fit onto the axes
    limits: tuple[Limits, Limits]
    source: str  # what the commands of the notes take as their device
    command: str  # the one that draws these slides
    step: Optional[Step] = None  # a measured one, whose slides come last

    @property
    def shown(self) -> Shown:
        return self.scene.first

    @property
    def device(self) -> Device:
        return self.shown.device

    @property
    def roof(self) -> Roof:
        """The roof that the slides build up: the data sheet's, else the measured one."""
        return self.shown.basis.roof

    @property
    def measured_roof(self) -> bool:
        """True if that roof was measured: every slide that draws it then shows a measurement."""
        return self.device.sheet_roof is None

    @property
    def view(self) -> Optional[View]:
        return self.device.view

    def measured(self, op: str) -> Optional[Mark]:
        return next((mark for mark in self.shown.points if mark.op == op), None)

    def doubt(self, slide: "Slide") -> str:
        """What puts the measurements of a slide in doubt; empty if it shows none."""
        doubt = self.scene.every_doubt if slide.every_format else self.scene.doubt
        return doubt if slide.measured else ""


@dataclass(frozen=True)
class Slide:
    """One slide: `say` and `numbers` are for the speaker, `command` reproduces the numbers."""

    slug: str
    title: str
    say: str
    numbers: list[str]
    command: str
    minutes: int
    draw: Callable[["Stage"], None]
    axes: bool = True
    own_plane: bool = False  # at the left, with other axes
    follows: bool = False  # it adds to the picture of the slide before it
    measured: bool = False  # it shows what the run measured
    every_format: bool = False  # of the run in place of the deck's one

    @property
    def parted(self) -> bool:
        """A plane lies at its left, and a panel at its right."""
        return self.axes or self.own_plane


@dataclass
class Stage:
    """The page of one slide with its plane, if it has one, and its panel."""

    deck: Deck
    theme: Theme
    figure: Figure
    page: Axes
    panel: Panel
    plane: Optional[Plane] = None
    hue: str = field(init=False)

    def __post_init__(self) -> None:
        self.hue = self.theme.hue(self.deck.scene.format)


def draw(slide: Slide, deck: Deck, theme: Theme, titled: bool = True) -> Figure:
    layout = with_foot(SLIDE, deck.scene.every_doubt)  # of all slides: their axes are at one place
    figure, page = new_page(layout, theme)
    plane = Plane(figure, page, layout, theme, deck.limits, deck.scene.unit) if slide.axes else None
    if titled:
        draw_head(page, layout, theme, slide.title)
    draw_foot(page, layout, theme, deck.doubt(slide))
    stage = Stage(deck, theme, figure, page, Panel(page, layout, theme), plane)
    slide.draw(stage)
    if plane:
        plane.place_labels()
    return figure


def _formats_of(view: Optional[View], sheet: Optional[str]) -> list[Format]:
    """The formats of a data sheet, else those that a run multiplies in; lowest roof first, those with one together."""
    if sheet:
        told = find_sheet(sheet)
        roofs = {name: devices.sheet_roof(told, name) for name in told.peaks if name in ORDER and name != "tf32x3"}
    else:
        native = {row.format for row in view.points if row.arithmetic == row.format} if view else set()
        served = [name for name in devices.formats_of(view) if name in native] if view else []
        roofs = {name: device.roof for name in served if (device := devices.of_run(view, name))}
    groups: list[Format] = []
    for name in sorted(ordered(set(roofs), ORDER), key=lambda one: roofs[one].flops_per_s):
        if groups and roofs[name].flops_per_s < (1 + SAME) * groups[-1].roof.flops_per_s:
            groups[-1] = replace(groups[-1], names=(*groups[-1].names, name))
        else:
            groups.append(Format((name,), roofs[name]))
    return groups


def _compared(first: Device, others: list[Device], format_: str) -> list[Device]:
    """The devices of the slide that compares: those that were named, else the lecture's three beside the first."""
    found = [first, *others]
    for name in COMPARED:
        sheet = find_sheet(name)
        new = all(one.name != devices.short(name) for one in found)
        if new and len(found) < _LEAST_DEVICES and format_ in sheet.peaks:
            found.append(devices.of_sheet(name, format_))
    return found


def _batching(deck_basis: Basis, format_: str, run: Optional[View], host: bool) -> tuple[int, list[Mark], list[Mark]]:
    """k = n of the products whose rows grow, their points by the model, and the measured ones."""
    depth, found = measured.growing_rows(run, format_) if run else (0, [])
    depth = depth or (1024 if host else model.DEPTH)
    rows = sorted({*(4**power for power in range(7) if 4**power <= depth), *(mark.size for mark in found)})
    return depth, model.path(deck_basis, format_, rows, lambda m: model.rows_of(m, depth)), found


def make(view: Optional[View], names: list[str], format_: Optional[str], source: str, command: str) -> Deck:
    """The deck of a run, of data sheets, or of both. Raises ResultsError."""
    chosen, found = scene.open_devices(view, names, format_)
    first = found[0]
    basis = Basis(first.sheet_roof, first.on) if first.sheet_roof else scene.basis_of(first, chosen)
    shown = scene.along_the_slope(scene.show(first, scene.usual(chosen), chosen, basis), chosen)
    depth, grown, seen = _batching(basis, chosen, view, first.host)
    made = Scene(chosen, [shown])
    others = _compared(first, found[1:], chosen)
    near = [one for one in others[1:] if not first.host]
    beside = [scene.show(one, scene.usual(chosen), chosen) for one in near]
    formats = _formats_of(view, first.on) or [Format((chosen,), basis.roof)]
    wide = replace(made, shown=[shown, *beside])
    limits = scene.limits(wide, tuple(one.roof for one in formats), (*grown, *seen))
    return Deck(made, grown, seen, depth, formats, others, beside, limits, source, command)
