"""Titles of the lecture figure: findings of the best verified rows, or of the model."""

from dataclasses import replace
from typing import Optional

from ridgebench.base.units import counted, digits, enumerate_words, percent, rate
from ridgebench.data.judged import MARGIN, percent_of_roof
from ridgebench.data.view import View
from ridgebench.figures.page.doubt import doubt, unfinished_title
from ridgebench.figures.page.finding import spoken, without_finding

from . import measured, model
from .layout import Layout, fits
from .model import Mark
from .scene import Scene, Shown

_SAME = 0.03  # times that differ by less are called the same, where memory limits both: about the spread of samples


def durations(values: list[float]) -> list[str]:
    """Times in the unit of the longest one, three digits: 0.641 ms, 0.279 ms."""
    for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if max(values) >= 0.3 * scale:
            break
    scaled = [value / scale for value in values]
    return [f"{value:.0f} {name}" if value >= 100 else f"{value:.3g} {name}" for value in scaled]


def duration(seconds: float) -> str:
    """0.709 ms, 12.4 µs: three digits."""
    return durations([seconds])[0]


def times(shown: Shown, format_: str) -> Optional[tuple[Mark, Mark]]:
    """ReLU and GeLU at one size, where both are shown: measured where the run has both, else by the model.

    Measured ones have the limits of the model, which say whether memory limits them.
    """
    found = {mark.op: mark for mark in shown.model}
    if not {"relu", "gelu"} <= set(found):
        return None
    view = shown.device.view
    rows = measured.pair(view, format_) if view else None
    if rows and all(view.may_head(row) and not view.unsettled(row) for row in rows):
        relu, gelu = (replace(measured.mark_of(row, view), limit=found[row.op].limit) for row in rows)
        return relu, gelu
    return found["relu"], found["gelu"]


def _longer(pair: tuple[Mark, Mark]) -> float:
    """The time of GeLU over the time of ReLU, of the same bytes; 1.0 where memory limits GeLU too and both are the same."""
    relu, gelu = pair
    longer = gelu.seconds / relu.seconds
    return 1.0 if gelu.waits and abs(longer - 1) < _SAME else longer


def _pair_finding(shown: Shown, format_: str) -> str:
    """'GeLU does 20 times the work of ReLU in the same time', where that was measured."""
    pair = times(shown, format_)
    if pair is None or not pair[0].measured:
        return ""
    relu, gelu = pair
    work, longer = gelu.flops / relu.flops, _longer(pair)
    if longer == 1.0:
        return f"GeLU does {digits(work)} times the work of ReLU in the same time"
    return f"GeLU does {digits(work)} times the work of ReLU in {digits(longer)} times the time"


def pair_title(pair: Optional[tuple[Mark, Mark]]) -> str:
    if pair is None:
        return "GeLU lies higher on the same slope"
    longer, work = _longer(pair), digits(pair[1].flops / pair[0].flops)
    return f"GeLU: {work} times the work, {'the same' if longer == 1.0 else digits(longer) + ' times the'} time"


def pair_words(pair: Optional[tuple[Mark, Mark]]) -> str:
    """The finding on the times of ReLU and GeLU."""
    same = "GeLU moves the same bytes as ReLU."
    longer = _longer(pair) if pair else 1.0
    if longer <= 1.0:
        return f"{same} Its arithmetic runs while the bytes arrive."
    return f"{same} Here its arithmetic takes longer than the bytes, so it takes {digits(longer)} times as long."


def _product_finding(view: View, format_: str) -> str:
    """The share of its limit that the best matmul reaches; only its rate if no limit is firm."""
    row = measured.best(view, format_, "matmul")
    if row is None or not view.may_head(row):
        return ""
    if row.mfu:
        return f"matmul reaches {percent(row.mfu)} % of the data sheet's peak"
    judged = view.only(format_)
    share = row.fraction_of_measured_roof
    ceilings = {one.id for one in view.rows if one.is_roof}
    firm = row.bound == "compute" and not judged.unsettled(row) and row.roof["compute_ceiling"] in ceilings
    if share and firm and share <= 1 + MARGIN:
        return f"matmul reaches {percent_of_roof(share)} % of the measured peak"
    return f"matmul runs at {rate(row.flops_per_s, 'FLOP/s')}"


def _model_finding(scene: Scene) -> str:
    """The operations that wait for memory, and the n from which matmul does not."""
    shown = scene.first
    roof = shown.basis.roof
    waiting = [spoken(mark.op) for mark in shown.model if mark.waits]
    parts = [f"{enumerate_words(waiting)} {'wait' if len(waiting) > 1 else 'waits'} for memory"] if waiting else []
    if shown.path:
        bend = model.crossing(roof, model.square, scene.format)
        above = f"matmul is compute-bound above n = {bend - 1}" if bend else "matmul waits for memory at every size"
        parts.append(above)
    return ", ".join(parts)


def _rests_on_firm_roofs(shown: Shown, format_: str) -> bool:
    """True if the model of a device may claim something: by a data sheet, or by roofs of a run that ended, that it finished, and that stayed."""
    if shown.basis.view is None:
        return True
    view = shown.basis.view.only(format_)
    limiting = {ceiling for row in view.points for ceiling in row.limited_by}
    roofs = [row for row in view.ceilings if row.id in limiting]
    return not doubt(view) and all(map(view.may_head, roofs))


def _no_finding(scene: Scene) -> str:
    """The title where nothing measured may head the figure: the model's finding, or what keeps the run from one."""
    view = scene.first.device.view
    if view and view.why_unfinished:
        return unfinished_title(view, counted(len(view.only(scene.format).points), "verified row"))
    if view and not _rests_on_firm_roofs(scene.first, scene.format):
        return without_finding(view.only(scene.format))
    return _model_finding(scene)


def _ridges(scene: Scene) -> str:
    ridges = enumerate_words([digits(one.device.roof.ridge) for one in scene.shown])
    named = enumerate_words([one.device.name for one in scene.shown])
    return f"{scene.format} matrix products bend at {ridges} FLOP per byte on {named}"


def finding(scene: Scene, layout: Layout) -> str:
    """The longest title that fits."""
    shown, name = scene.first, scene.format
    if len(scene.shown) > 1:
        named = _ridges(scene)
        return named if fits(layout, named) else f"{name}: the ridge moves from device to device"
    view = shown.device.view
    parts = [_pair_finding(shown, name), _product_finding(view, name) if shown.path else ""] if view else []
    parts = [part for part in parts if part] or [_no_finding(scene)]
    where = f"{shown.device.name}, {name}: "
    together = ["; ".join(parts), *parts]
    leads = (where, f"{name}: ") if layout.subtitle or layout.panel else (where,)  # no other line names the device
    titles = [f"{lead}{text}" for text in together if text for lead in leads]
    firm = view is None or _rests_on_firm_roofs(shown, name)
    ridge = f"{leads[-1]}the ridge is at {digits(shown.device.roof.ridge)} FLOP per byte" if firm else f"{where}no finding"
    return next((title for title in titles if fits(layout, title)), ridge)
