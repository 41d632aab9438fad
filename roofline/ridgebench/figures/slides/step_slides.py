"""The slides of a measured step: its time from the data sheet to the launches, its MFU, and its memory over its launches."""

from functools import partial
from typing import Sequence

from ridgebench.base.units import digits, percent, seconds
from ridgebench.data.steps import Step
from ridgebench.figures.page import labels
from ridgebench.figures.page import step as figures

from .counting import LARGE, wide
from .deck import Deck, Slide, Stage
from .layout import SLIDE, fits
from .panel import Bar, Stack

_Bars = Sequence[tuple[str, dict[str, float]]]


def _fitting(title: str) -> str:
    """The title, else its first part: what follows a semicolon or a colon is more than the finding."""
    shorter = [title, title.split("; ")[0], title.split(": ")[0]]
    return next((one for one in shorter if fits(SLIDE, one)), shorter[-1])


def _with_doubt(words: str, step: Step) -> str:
    doubt = figures.doubt(step)
    return f"{words} {doubt}." if doubt else words


def _colour(stage: Stage, name: str) -> str:
    return figures.COLOURS.get(name, stage.theme.muted)


def _draw_times(stage: Stage, words: str, bars: _Bars) -> None:
    """A bar for each account of the step's time, its parts side by side."""
    panel = wide(stage)
    panel.text(words, most=4)
    panel.gap(0.6)
    panel.stacked([Stack(name, [(_colour(stage, part), value) for part, value in parts.items()], seconds(sum(parts.values())))
                   for name, parts in bars])
    panel.gap(0.7)
    known = [name for name in figures.COLOURS if any(name in parts for _, parts in bars)]
    panel.swatches([(name, _colour(stage, name), _colour(stage, name)) for name in known])


def _time(step: Step, command: str) -> Slide:
    bars = figures.bars(step)
    words = _with_doubt(f"{figures.subtitle(step)}.", step)
    lines = [f"{name}: {seconds(sum(parts.values()))}" for name, parts in bars]
    return Slide("step-time", _fitting(figures.waterfall_title(step)), words, lines, command, 4,
                 lambda stage: _draw_times(stage, words, bars), axes=False)


def _mfu(step: Step, command: str) -> list[Slide]:
    """The slide with the share of the peak that the step reaches; none if no peak is known."""
    shares = figures.shares_of(step)
    if shares is None:
        return []
    rows = [("its products by themselves", shares.products), (f"the step, {shares.names[0]}", shares.executed),
            (f"the step, {shares.names[1]}", shares.model)]
    words = _with_doubt(f"100 % is {shares.of}.", step)

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=4)
        panel.gap(0.8)
        most = max(1.0, *(value for _, value in rows))
        panel.bars([Bar(name, value / most, f"{percent(value)} %", stage.hue if not index else stage.theme.muted)
                    for index, (name, value) in enumerate(rows)], 1.8)

    return [Slide("step-mfu", _fitting(figures.mfu_title(shares, step)), words, [f"{name}: {percent(value)} %" for name, value in rows],
                  command, 4, draw, axes=False)]


def _memory(step: Step, command: str) -> Slide:
    words = figures.subtitle(step)
    scale, unit = figures.unit_of(step.record["peak_bytes"])
    lines = [f"peak: {digits(step.record['peak_bytes'] / scale)} {unit}",
             f"predicted: {digits(step.record['peak_predicted_bytes'] / scale)} {unit}"]
    return Slide("step-memory", _fitting(figures.memory_title(step)), words, lines, command, 4, partial(_draw_memory, step), axes=False)


def _draw_memory(step: Step, stage: Stage) -> None:
    """Bands of live bytes over the launches of the step, and the predicted ones as a line."""
    panel, theme, layout = wide(stage), stage.theme, stage.panel.layout
    panel.swatches([(name, colour, colour) for name, colour in figures.kinds_of(step)])
    scale, unit = figures.unit_of(step.record["peak_bytes"])
    peak = step.record["peak_predicted_bytes"] / scale
    text = f"{digits(peak)} {unit}"
    left, low = panel.box.left + labels.width(text, LARGE.text) + 0.2, panel.box.bottom + 1.6 * LARGE.line
    right, top = panel.box.right - 0.1, panel.y - 1.9 * LARGE.line
    axes = stage.figure.add_axes((left / layout.width, low / layout.height, (right - left) / layout.width, (top - low) / layout.height), zorder=1)
    figures.draw_bands(axes, step, scale, theme.ink, 2)
    axes.set_ylim(0, 1.04 * peak)
    axes.set_xticks([])
    axes.set_yticks([0, peak], ["0", text])
    axes.tick_params(labelsize=LARGE.text, length=0, labelcolor=theme.ink)
    axes.spines[["top", "right"]].set_visible(False)
    _name_phases(stage, step, left, right - left, top)
    stage.page.text((left + right) / 2, low - 0.2 * LARGE.line, f"launches of the step, in their order; {figures.outline_name(step)}",
                    size=LARGE.text, ha="center", va="top")


def _name_phases(stage: Stage, step: Step, left: float, long: float, top: float) -> None:
    """The phases above their launches, each that has room."""
    count = len(step.timeline)
    for first, last, phase in figures.phases(step):
        begin, end = left + long * first / count, left + long * last / count
        if first:
            stage.page.plot([begin, begin], [top, top + 1.2 * LARGE.line], color=stage.theme.muted, linewidth=1.5)
        if labels.width(phase, LARGE.text) + 0.1 < end - begin:
            stage.page.text((begin + end) / 2, top + 0.25 * LARGE.line, phase, size=LARGE.text, ha="center", va="bottom")


def slides(deck: Deck) -> list[Slide]:
    """The slides of the step that the deck was made of; none without one. A step without a time has its memory only."""
    step = deck.step
    if step is None:
        return []
    return [*([_time(step, deck.command), *_mfu(step, deck.command)] if step.ok else []), _memory(step, deck.command)]
