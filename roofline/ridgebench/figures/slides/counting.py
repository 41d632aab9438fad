"""The slides without a plane: what bytes and FLOPs cost, and the memory of training."""

from dataclasses import replace
from typing import Sequence

from ridgebench.base.units import digits, rate
from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.program import ask
from ridgebench.figures.page import labels
from ridgebench.figures.page.style import blend

from . import devices
from .build_up import info
from .deck import COMPARED, Deck, Slide, Stage
from .layout import SLIDE
from .panel import Bar, Panel, Stack

_MODEL, _RANKS = "70B", "8"  # parameters and devices of the slide on memory
_LAYERS, _WIDTH, _ROWS = ("4", "16", "64", "144", "256"), "8192", "4096"  # of the slide on activations
_PART = 0.22  # share of the background in the colour of each further part of the state
_KEPT = {"none": "all kept", "sqrt": "checkpoints"}  # what --checkpoint keeps
LARGE = replace(SLIDE, text=22.0)


def wide(stage: Stage, text: float = LARGE.text) -> Panel:
    """A panel over the whole slide, with larger text."""
    own = stage.panel.layout
    box = labels.Box(own.margin, own.floor, own.width - own.margin, own.top)
    stage.panel = Panel(stage.page, replace(LARGE, text=text), stage.theme, box)
    stage.panel.gap(0.6)
    return stage.panel


def _one_unit(*seconds: float) -> list[str]:
    """Short times in one unit, in which the least of them is at least 1."""
    scale, unit = next((one for one in ((1e-12, "ps"), (1e-15, "fs")) if min(seconds) >= one[0]), (1e-15, "fs"))
    return [f"{digits(value / scale)} {unit}" for value in seconds]


def costs(deck: Deck) -> Slide:
    byte, flop = 1 / deck.roof.bytes_per_s, 1 / deck.roof.flops_per_s
    ridge = digits(deck.roof.ridge)
    words = f"While memory delivers one byte, matrix products in {deck.scene.format} can do {ridge} FLOP on {deck.device.name}."
    byte_text, flop_text = _one_unit(byte, flop)

    def draw(stage: Stage) -> None:
        panel = wide(stage, 26.0)
        panel.text(words, most=3)
        panel.gap(1.2)
        longest = max(byte, flop)
        panel.bars([Bar("one byte", byte / longest, byte_text, stage.hue),
                    Bar("one FLOP", flop / longest, flop_text, stage.hue)])
        panel.gap(1.2)
        panel.text(f"A matrix product that does fewer than {ridge} FLOP for each byte waits for memory.", most=3)

    lines = [f"one byte: {byte_text}", f"one FLOP: {flop_text}", f"ratio: {ridge}"]
    return Slide("costs", f"One byte takes as long as {ridge} FLOP", words, lines, info(deck), 3, draw, axes=False,
                 measured=deck.measured_roof)


def parts_of(answer: dict) -> list[tuple[str, float]]:
    """The parts of the state in bytes: parameters, gradients, optimizer."""
    found = [(term["name"], term["value"]) for term in answer["terms"] if term["unit"] == "byte"]
    return [(name, value) for name, value in found if not name.startswith("memory of")]


def precision_of(on: str) -> str:
    """The training format of a device: bf16, or fp32 if it lacks bf16."""
    return "bf16" if "bf16" in find_sheet(on).peaks else "fp32"


def memory(deck: Deck) -> Slide:
    on = deck.device.on or COMPARED[0]
    precision = precision_of(on)
    whole = ask("plan", "memory", "--parameters", _MODEL, "--gpus", "1", "--precision", precision, "--on", on)
    capacity = next(term["value"] for term in whole["terms"] if term["name"].startswith("memory of"))
    common = ("--parameters", _MODEL, "--precision", precision)
    stages = [ask("plan", "zero", *common, "--stage", str(stage), "--ranks", _RANKS) for stage in (1, 2, 3)]
    named = [("no ZeRO", whole)]
    named += [(f"ZeRO stage {index}", answer) for index, answer in enumerate(stages, 1)]
    per = digits(whole["bytes_per_parameter"])
    words = (f"Training by AdamW in {precision} keeps {per} bytes for each parameter. "
             f"ZeRO splits the state of {_MODEL} parameters over {_RANKS} devices. Activations come on top.")
    name = devices.short(find_sheet(on).name)
    limit = f"memory of one {name}{'' if deck.device.on else ', for comparison'}: {rate(capacity, 'B')}"

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=3)
        panel.gap(0.8)
        _draw_memory(stage, named, capacity, limit)

    lines = [f"{name}: {rate(answer['bytes'], 'B')} per device" for name, answer in named]
    return Slide("memory", _memory_title(named, capacity), words, [f"{per} bytes per parameter", *lines],
                 f"ridgebench plan zero --parameters {_MODEL} --stage 3 --ranks {_RANKS} --precision {precision}", 5, draw,
                 axes=False)


def _memory_title(named: Sequence[tuple[str, dict]], capacity: float) -> str:
    """The least that must be split until the state fits, or that it never does."""
    fitting = next((one for one in named if one[1]["bytes"] <= capacity), None)
    how, answer = fitting or named[-1]
    needed, room = rate(answer["bytes"], "B"), rate(capacity, "B")
    if fitting:
        return f"{_MODEL} parameters fit with {how}: {needed} of {room}"
    return f"{_MODEL} parameters do not fit, even with {how}: {needed} > {room}"


def _draw_memory(stage: Stage, named: Sequence[tuple[str, dict]], capacity: float, limit: str) -> None:
    """The state of each kind of sharding, and a line at the end of one device's memory."""
    panel, page = stage.panel, stage.page
    parts = [part for part, _ in parts_of(named[0][1])]
    tints = [blend(stage.hue, stage.theme.background, _PART * index) for index in range(len(parts))]
    top = panel.y
    end = panel.stacked([Stack(name, list(zip(tints, (value for _, value in parts_of(answer)))), rate(answer["bytes"], "B"))
                         for name, answer in named], capacity)
    panel.gap(0.4)
    page.plot([end, end], [panel.y, top], color=stage.theme.ink, linewidth=2, linestyle="dashed", zorder=5)
    page.text(end, panel.y - 0.1, limit, size=LARGE.text, va="top")
    panel.gap(1.8)
    panel.swatches([(part, tint, tint) for part, tint in zip(parts, tints)])


def _activation_bytes(layers: str, checkpoint: str) -> float:
    common = ("--width", _WIDTH, "--batch", _ROWS, "--checkpoint", checkpoint)
    return ask("plan", "activations", "--layers", layers, *common)["bytes"]


def activations(deck: Deck) -> Slide:
    answers = [(layers, {kind: _activation_bytes(layers, kind) for kind in _KEPT}) for layers in _LAYERS]
    words = (f"The backward pass needs the outputs of every layer, here of width {_WIDTH} for {_ROWS} tokens. With checkpoints, "
             "training keeps about the square root of them, and computes the others again: about one more forward pass.")

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=4)
        panel.gap(0.8)
        _curves(stage, {kind: [(int(layers), found[kind]) for layers, found in answers] for kind in _KEPT})

    lines = [f"{layers} layers: {rate(found['none'], 'B')} kept, {rate(found['sqrt'], 'B')} with checkpoints"
             for layers, found in answers]
    most, kept = answers[-1][1]["none"], answers[-1][1]["sqrt"]
    title = f"Checkpoints keep {rate(kept, 'B')} of {rate(most, 'B')} in {answers[-1][0]} layers"
    return Slide("activations", title, words, lines,
                 f"ridgebench plan activations --layers {_LAYERS[-1]} --width {_WIDTH} --batch {_ROWS} --checkpoint sqrt",
                 4, draw, axes=False)


def _curves(stage: Stage, kept: dict[str, list[tuple[int, float]]]) -> None:
    """Kept bytes over layers, on linear axes: a straight line, and one that flattens; both named at their right ends."""
    panel, theme, layout = stage.panel, stage.theme, stage.panel.layout
    ends = [f"{_KEPT[kind]}: {rate(points[-1][1], 'B')}" for kind, points in kept.items()]
    beside = max(labels.width(text, LARGE.text) for text in ends) + 0.2
    ticks = sorted({layers for points in kept.values() for layers, _ in points})
    left, low = panel.box.left + 0.3, panel.box.bottom + 2.9 * LARGE.line
    wide_, high = panel.box.right - beside - left, panel.y - low
    axes = stage.figure.add_axes((left / layout.width, low / layout.height, wide_ / layout.width, high / layout.height), zorder=1)
    axes.set(xlim=(0, ticks[-1]), ylim=(0, max(value for points in kept.values() for _, value in points)))
    for (kind, points), text in zip(kept.items(), ends):
        colour = stage.hue if kind == "none" else theme.ink
        axes.plot([0, *(layers for layers, _ in points)], [0, *(value for _, value in points)], color=colour, clip_on=False,
                  linewidth=layout.stroke, linestyle="solid" if kind == "none" else (0, (4, 1.5)))
        axes.annotate(text, points[-1], (10, 0), textcoords="offset points", va="center", size=LARGE.text, annotation_clip=False)
    axes.set_xticks(ticks[1:], [str(one) for one in ticks[1:]])
    axes.set_yticks([])
    axes.tick_params(labelsize=LARGE.text, length=4, labelcolor=theme.ink)
    stage.page.text(left + wide_ / 2, low - 1.2 * LARGE.line, "layers", size=LARGE.text, ha="center", va="top")
    axes.spines[["top", "right"]].set_visible(False)
