"""The slide with the memory of a training step over its phases, with all outputs kept and with checkpoints."""

from typing import Any, Sequence

from ridgebench.base.units import digits, rate
from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.program import ask
from ridgebench.figures.page import labels
from ridgebench.figures.page.canvas import across
from ridgebench.figures.page.step import COLOUR_OF_KIND

from . import devices
from .counting import LARGE, precision_of, wide
from .deck import COMPARED, Deck, Slide, Stage

_LAYERS, _WIDTH, _ROWS = 16, 16384, 65536
_KEPT = {"none": "all outputs kept", "sqrt": "checkpoints"}  # what --checkpoint keeps
# The parts of `plan fits`, each with its name and its colour in a figure of a measured step.
_PARTS = {
    "parameters": ("parameters", "parameters"), "gradients": ("gradients", "gradients"), "adamw states": ("optimizer", "optimizer"),
    "activations": ("activations", "activations"), "gradients of outputs, temporaries": ("temporaries", "activation_gradients"),
}  # fmt: skip
_GIGA = 1e9
_APART = 0.5  # inches between both charts


def _question(checkpoint: str, precision: str, on: str) -> list[str]:
    sizes = {"--parameters": _LAYERS * _WIDTH**2, "--layers": _LAYERS, "--width": _WIDTH, "--batch": _ROWS}
    return ["plan", "fits", *(str(word) for pair in sizes.items() for word in pair), "--precision", precision, "--format", precision,
            "--checkpoint", checkpoint, "--timeline", "--on", on]


def _title(peaks: Sequence[float], capacity: float) -> str:
    """What checkpoints change: the peak and, where that decides, whether the step fits."""
    most, least = (rate(peak, "B") for peak in peaks)
    room = rate(capacity, "B")
    if peaks[1] <= capacity < peaks[0]:
        return f"With checkpoints a step fits {room}: its peak falls from {most} to {least}"
    return f"Checkpoints lower the peak of a step from {most} to {least}"


def peak(deck: Deck) -> Slide:
    on = deck.device.on or COMPARED[0]
    precision = precision_of(on)
    answers = {kind: ask(*_question(kind, precision, on)) for kind in _KEPT}
    peaks, capacity = [answer["bytes"] for answer in answers.values()], answers["none"]["memory_bytes"]
    words = (f"{_LAYERS} layers of width {_WIDTH} in {precision}, {_ROWS} tokens, AdamW. Activations pile up on the way forward, and are "
             "freed on the way back.")
    name = devices.short(find_sheet(on).name)
    limit = f"dashed: memory of one {name}{'' if deck.device.on else ', for comparison'}, {rate(capacity, 'B')}"

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=3)
        panel.swatches([(name, COLOUR_OF_KIND[kind], COLOUR_OF_KIND[kind]) for name, kind in _PARTS.values()])
        _charts(stage, answers, capacity, limit)

    lines = [f"{text}: {rate(answer['bytes'], 'B')}" for text, answer in zip(_KEPT.values(), answers.values())]
    return Slide("phases", _title(peaks, capacity), words, lines, " ".join(["ridgebench", *_question("sqrt", precision, on)]), 3, draw,
                 axes=False)


def _charts(stage: Stage, answers: dict[str, dict[str, Any]], capacity: float, limit: str) -> None:
    """Both steps side by side on one scale, with the device's memory as a line."""
    panel = stage.panel
    top = max(capacity, *(answer["bytes"] for answer in answers.values()))
    left = panel.box.left + labels.width(digits(top / _GIGA), LARGE.text) + 0.8
    low, high = panel.box.bottom + 2.3 * LARGE.line, panel.y - 1.5 * LARGE.line
    wide_ = (panel.box.right - left - _APART) / len(answers)
    for index, (kind, answer) in enumerate(answers.items()):
        start = left + index * (wide_ + _APART)
        _chart(stage, answer, (start, low, wide_, high - low), top, capacity, first=index == 0)
        stage.page.text(start + wide_ / 2, high + 0.2 * LARGE.line, f"{_KEPT[kind]}: {rate(answer['bytes'], 'B')}", size=LARGE.text,
                        ha="center", va="bottom", weight="bold")
    stage.page.text((left + panel.box.right) / 2, panel.box.bottom, limit, size=LARGE.text, ha="center", va="bottom")


def _chart(stage: Stage, answer: dict[str, Any], place: tuple[float, float, float, float], top: float, capacity: float, first: bool) -> None:
    """Bands of live bytes over the phases of a step."""
    layout, timeline = stage.panel.layout, answer["timeline"]
    left, low, wide_, high = place
    axes = stage.figure.add_axes((left / layout.width, low / layout.height, wide_ / layout.width, high / layout.height), zorder=1)
    edges, below = list(range(len(timeline) + 1)), [0.0] * len(timeline)
    for part, (_, kind) in _PARTS.items():
        above = [base + band["live"].get(part, 0.0) / _GIGA for base, band in zip(below, timeline)]
        axes.stairs(above, edges, baseline=below, fill=True, color=COLOUR_OF_KIND[kind], lw=0)
        below = above
    axes.set(xlim=(0, edges[-1]), ylim=(0, 1.04 * top / _GIGA))
    across(axes, capacity / _GIGA, color=stage.theme.ink, lw=2, ls=(0, (5, 3)))
    axes.set_xticks([])
    axes.set_yticks([0, capacity / _GIGA], ["0", f"{digits(capacity / _GIGA)} GB"] if first else ["", ""])
    axes.tick_params(labelsize=LARGE.text, length=0, pad=6, labelcolor=stage.theme.ink)
    axes.spines[["top", "right"]].set_visible(False)
    phases = [band["phase"] for band in timeline]
    for name in ("forward", "backward"):
        middle = phases.index(name) + phases.count(name) / 2
        stage.page.text(left + middle / len(phases) * wide_, low - 0.2 * LARGE.line, name, size=LARGE.text, ha="center", va="top")
