"""The lecture figure: roof, named regions, ridge, operations at their points, and matmul's path over its sizes."""

from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from ridgebench.base.text import cut
from ridgebench.base.units import digits, enumerate_words, rate
from ridgebench.data.records import commit_of, date_of
from ridgebench.data.view import OPERATIONS
from ridgebench.figures.page.finding import spoken
from ridgebench.figures.page.page import power_states
from ridgebench.figures.page.style import BLUE, GREEN, PURPLE, VERMILLION, Theme, shape
from ridgebench.figures.scene.roofline import Roof

from . import drawing, titles
from .layout import LECTURE, PAPER, draw_foot, draw_head, new_page, scaled, with_foot
from .model import Mark
from .panel import Bar, Panel, Sample
from .plane import Plane, spare_width
from .scene import Scene, Shown, limits

_EMPTY = 2.0  # decades of intensity right of the last point; the panel gets the room beyond them
_OWN_FIRST = 3  # of the user's points whose names come before those of operations
_HUES = (BLUE, VERMILLION, GREEN, PURPLE)
# The device once more, by its line as by its hue, in line widths.
DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1)), (0, (2, 1, 1, 1)))


def device_hue(index: int, theme: Theme) -> str:
    """The hue of one of several devices."""
    return _HUES[index] if index < len(_HUES) else (theme.ink, theme.muted)[index % 2]


def nested(index: int, count: int) -> float:
    """The width of a device's roof and the size of its marks: earlier ones are larger, and stay visible below those in one place."""
    return 1.25 - 0.75 * index / max(count - 1, 1) if count > 1 else 1.0


def _hue(scene: Scene, index: int, theme: Theme) -> str:
    """One device has the hue of the format; of several each has its own."""
    return theme.hue(scene.format) if len(scene.shown) == 1 else device_hue(index, theme)


def _subtitle(scene: Scene) -> str:
    """Where the numbers come from."""
    view = scene.first.device.view
    if view is None:
        return f"{scene.format} · by the data sheet; nothing was measured"
    if len(scene.shown) > 1:
        return f"{scene.format} · {scene.first.device.name} was measured, the others are by their data sheets"
    environment = view.environment
    model = view.device["model"] or view.device["name"]
    fixed = f" · matmul: m = n = {scene.first.fixed}" if scene.first.fixed else ""
    state = " · unfinished run" if view.why_unfinished else ""
    facts = [model, f"{scene.format}{fixed}", date_of(environment) or "date unknown", f"commit {commit_of(environment)}{state}", power_states(view)]
    return " · ".join(filter(None, facts))


def draw(scene: Scene, theme: Theme, paper: bool = False, scale: float = 1.0) -> Figure:
    doubt = scene.doubt if scene.measured else ""
    layout = with_foot(scaled(PAPER if paper else LECTURE, scale), doubt)
    if layout.panel:
        layout = replace(layout, panel=layout.panel + spare_width(layout, limits(scene), _EMPTY))
    figure, page = new_page(layout, theme)
    draw_head(page, layout, theme, titles.finding(scene, layout), _subtitle(scene))
    draw_foot(page, layout, theme, doubt)
    plane = Plane(figure, page, layout, theme, limits(scene), scene.unit)
    alone = len(scene.shown) == 1
    for index, shown in enumerate(scene.shown):
        _draw_device(plane, scene, shown, index)
    if alone:
        drawing.regions(plane, scene.first.device.roof, named=True)
    _wish_labels(plane, scene, timed=not layout.panel)
    plane.place_labels()
    if layout.panel:
        _draw_panel(Panel(page, layout, theme), scene)
    return figure


def _draw_device(plane: Plane, scene: Scene, shown: Shown, index: int) -> None:
    theme = plane.theme
    colour, several = _hue(scene, index, theme), len(scene.shown) > 1
    roof, sheet = shown.device.roof, shown.device.sheet_roof
    dash = DASHES[index % len(DASHES)] if several else "solid" if shown.device.measured_roof else "dashed"
    if shown.device.measured_roof and sheet and not several:
        drawing.roof(plane, sheet, colour, 0.45, "dashed")
    size = nested(index, len(scene.shown))
    drawing.roof(plane, roof, colour, 0.7 * size if several or dash == "dashed" else 1.0, dash)
    if not plane.layout.panel and sheet and shown.device.measured_roof and not several:
        drawing.name_flat(plane, sheet, "data sheet", drawing.legible(colour, theme), above=True)
    drawing.roofs_beside(plane, shown.roofs_beside(not several), roof, colour, "" if several else own_flat(shown, scene.unit))
    label = f"ridge {digits(roof.ridge)}"
    if several:  # the legend has the ridges, where there is one
        label = "" if plane.layout.panel else f"{shown.device.name}: {digits(roof.ridge)}"
    drawing.ridge(plane, roof, colour, label, counted=several)
    drawing.path(plane, shown.path, theme, colour)
    drawing.path(plane, shown.measured_path, theme, colour)
    for mark in [*shown.model, *shown.points]:
        drawing.mark(plane, mark, colour, size)


def own_flat(shown: Shown, unit: tuple[str, float]) -> str:
    """'all but matmul: 67', the peak of the units that compute the operations under the second flat roof."""
    peak = shown.basis.roof.flops_per_s
    below = [mark for mark in shown.model if mark.limit and mark.limit in shown.roofs_beside() and mark.limit.flops_per_s < peak]
    if not below:
        return ""
    lowest = below[0].limit.flops_per_s
    same = [mark for mark in shown.model if mark.limit and mark.limit.flops_per_s == lowest]
    who = "all but matmul" if len(same) == len(shown.model) > 2 else enumerate_words([spoken(mark.op) for mark in same])
    return f"{who}: {digits(lowest / unit[1])} {unit[0]}"


def _wish_labels(plane: Plane, scene: Scene, timed: bool) -> None:
    """Names points: some of the user's own, matmul's ends, the other operations; measured times that no prediction accompanies."""
    theme, own = plane.theme, scene.own_points
    for mark in own:
        plane.spot(mark.intensity, mark.rate, theme.ink, "*", size=1.6)
    _name_own(plane, own[:_OWN_FIRST])
    shown = scene.first
    colour = theme.ink if len(scene.shown) > 1 else drawing.legible(_hue(scene, 0, theme), theme)  # ink: of all devices
    path = shown.measured_path if len(shown.measured_path) > 1 else shown.path
    if path:
        plane.wish(f"matmul, {shown.letter} = {path[-1].size}", path[-1].intensity, path[-1].rate, colour)
    if path and len(own) < _OWN_FIRST:
        plane.wish(f"{shown.letter} = {path[0].size}", path[0].intensity, path[0].rate, colour)
    known = {mark.op: mark for mark in [*shown.model, *shown.points]}
    for op in OPERATIONS:
        if op in known:
            mark = known[op]
            time = f" {titles.duration(mark.seconds)}" if timed and mark.measured and op in ("relu", "gelu") else ""
            plane.wish(spoken(op) + time, mark.intensity, mark.rate, theme.ink)
    _name_own(plane, own[_OWN_FIRST:])


def _name_own(plane: Plane, marks: list[Mark]) -> None:
    for mark in marks:
        plane.wish(cut(mark.name, drawing.LONGEST_NAME), mark.intensity, mark.rate, plane.theme.ink)


def bars_of(pair: tuple[Mark, Mark], colour: str) -> list[Bar]:
    """The times of ReLU and GeLU."""
    longest = max(mark.seconds for mark in pair)
    texts = titles.durations([mark.seconds for mark in pair])
    return [Bar(spoken(mark.op), mark.seconds / longest, text, colour, mark.measured) for mark, text in zip(pair, texts)]


def _draw_panel(panel: Panel, scene: Scene) -> None:
    theme = panel.theme
    panel.gap(0.3)
    panel.key(_key_of(scene, theme))
    if len(scene.shown) > 1:
        _draw_times(panel, scene)
        return
    pair = titles.times(scene.first, scene.format)
    if pair is None:
        return
    panel.gap(1.0)
    colour = _hue(scene, 0, theme)
    where = "measured" if pair[0].measured else "by the model"
    room = panel.y
    panel.text(f"Time for one pass, {where}", weight="bold", most=2)
    if panel.bars(bars_of(pair, colour)):
        panel.gap(0.3)
        work = digits(pair[1].flops / pair[0].flops)
        panel.text(f"GeLU does {work} times the work of ReLU on the same bytes.", most=4)
    else:
        panel.y = room


def _draw_times(panel: Panel, scene: Scene) -> None:
    """The times of one operation on several devices by the model, where all have it at one size."""
    marks = [next(iter(one.model), None) for one in scene.shown]
    known = [mark for mark in marks if mark]
    if len(known) < len(marks) or len({(mark.op, mark.flops) for mark in known}) > 1:
        return
    panel.gap(1.0)
    room, longest = panel.y, max(mark.seconds for mark in known)
    panel.text(f"Time of {spoken(known[0].op)}, by the model", weight="bold", most=2)
    texts = titles.durations([mark.seconds for mark in known])
    rows = [Bar(one.device.name, mark.seconds / longest, text, device_hue(index, panel.theme), False)
            for index, (one, mark, text) in enumerate(zip(scene.shown, known, texts))]
    if not panel.bars(rows):
        panel.y = room


def key_of_devices(roofs: list[tuple[str, Roof]], theme: Theme) -> list[Sample]:
    """The line and the ridge of each of several devices."""
    return [Sample(f"{name}: ridge {digits(roof.ridge)}", device_hue(index, theme), DASHES[index % len(DASHES)], width=0.7)
            for index, (name, roof) in enumerate(roofs)]


def _key_of(scene: Scene, theme: Theme) -> list[Sample]:
    if len(scene.shown) > 1:
        return key_of_devices([(one.device.name, one.device.roof) for one in scene.shown], theme)
    shown, colour = scene.first, _hue(scene, 0, theme)
    device, found = shown.device, []
    for name, roof, dash in (("measured", device.measured_roof, "solid"), ("data sheet", device.sheet_roof, "dashed")):
        if roof:
            speed = rate(roof.bytes_per_s, "B/s") + (f" ({roof.stream})" if roof.stream else "")
            found.append(Sample(f"{name}: {scene.rate(roof.flops_per_s)}, {speed}", colour, dash,
                                width=1.0 if dash == "solid" else 0.5))
    sign = shape(shown.path[0].op if shown.path else shown.model[0].op, list(OPERATIONS))
    if shown.points or shown.measured_path:
        found.append(Sample("measured", colour, marker=sign))
    found.append(Sample("by the model", colour, marker=sign, filled=False))
    if shown.roofs_beside():
        found.append(Sample(drawing.OWN_MEANING, colour, width=drawing.OWN))
    return found
