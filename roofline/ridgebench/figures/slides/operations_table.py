"""The slides with the table of operations: their work and bytes, first without the limit of each one, later with it."""

import re
from math import log2, prod
from typing import Optional

from ridgebench.base.units import digits, enumerate_words, in_one_unit, superscript
from ridgebench.figures.page.finding import spoken

from . import model
from .build_up import predict
from .counting import LARGE, wide
from .deck import Deck, Slide, Stage
from .model import Mark

_LONG = 1 << 20  # a size from here on is written by a power of two or of ten
_HEAD = ("operation", "size", "FLOPs", "", "bytes", "FLOP per byte", "limit")
# Where each column lies, as a share of the slide's width, and which side of it.
_COLUMNS = ((0.0, "left"), (0.15, "left"), (0.293, "left"), (0.522, "right"), (0.652, "right"), (0.86, "right"), (1.0, "right"))

_FORMULA_HEAD = ("operation", "FLOPs", "bytes", "FLOP per byte")
_FORMULA_COLUMNS = ((0.0, "left"), (0.4, "right"), (0.66, "right"), (1.0, "right"))


def _sizes(mark: Mark) -> dict[str, int]:
    """The dimensions in the text of a shape: 'm:1/n:4096/k:4096/layout:nt' has three."""
    pairs = (part.split(":", 1) for part in mark.shape.split("/") if ":" in part)
    return {name: int(value) for name, value in pairs if value.isdigit()}


def _power(size: int) -> str:
    """A size as a number; a large one as 2²⁹, 10⁸ or 1.235 × 10⁸."""
    if size < _LONG:
        return str(size)
    power = int(log2(size))
    if size == 1 << power:
        return f"2{superscript(power)}"
    mantissa, _, exponent = f"{size:.3e}".partition("e")
    shown = mantissa.rstrip("0").rstrip(".")
    return ("" if shown == "1" else f"{shown} × ") + f"10{superscript(int(exponent))}"


def _is_exact(size: int) -> bool:
    """True if _power() writes the size without rounding."""
    return size < _LONG or size & (size - 1) == 0 or float(f"{size:.3e}") == size


def size_of(mark: Mark, fixed: int) -> str:
    """'n = 8192' where all dimensions are equal; of several the one that grows along the path."""
    sizes = _sizes(mark)
    if len(set(sizes.values())) == 1:
        size = next(iter(sizes.values()))
        return f"n {'=' if _is_exact(size) else '≈'} {_power(size)}"
    return f"k = {mark.size}" if fixed and mark.size else " × ".join(map(_power, sizes.values()))


def _formula(mark: Mark) -> str:
    """The FLOPs by the dimensions: '20n', '2n²', '2mnk'; empty if they are no whole multiple of their product."""
    sizes = _sizes(mark)
    if not sizes:
        return ""
    if mark.op == "matvec" and len(sizes) == 1:  # the text of a square matrix has one dimension
        sizes = {"m": sizes["n"], **sizes}
    each = mark.flops / prod(sizes.values())
    if abs(each - round(each)) > 0.01 or round(each) < 1:
        return ""
    number = f"{round(each)}" if round(each) > 1 else ""
    equal = len(set(sizes.values())) == 1
    power = superscript(len(sizes)) if len(sizes) > 1 else ""
    return f"{number}n{power}" if equal else f"{number}{''.join(sizes)}"


def _marks(deck: Deck) -> list[Mark]:
    return [*deck.shown.model, *deck.shown.path[-1:]]


def _limit_of(mark: Mark) -> str:
    return "memory" if mark.waits else "arithmetic"


def _lines(deck: Deck, answered: bool) -> list[tuple[str, ...]]:
    """The operations at their sizes: FLOPs as a formula and as a number, bytes, intensity, limit."""
    marks = _marks(deck)
    flops, traffic = [mark.flops for mark in marks], [mark.flops / mark.intensity for mark in marks]
    return [(spoken(mark.op), size_of(mark, deck.shown.fixed), _formula(mark), work, moved, digits(mark.intensity),
             _limit_of(mark) if answered else "?")
            for mark, work, moved in zip(marks, in_one_unit(flops, "FLOP"), in_one_unit(traffic, "B"))]


def _draw_table(stage: Stage, words: str, lines: list[tuple[str, ...]], head: tuple[str, ...] = _HEAD,
                columns: tuple[tuple[float, str], ...] = _COLUMNS) -> None:
    panel = wide(stage)
    panel.text(words, most=2)
    panel.gap(0.8)
    for index, line in enumerate([head, *lines]):
        for (share, side), text in zip(columns, line):
            stage.page.text(panel.box.left + share * panel.width, panel.y, text, size=LARGE.text, va="top", ha=side,
                            weight="normal" if index else "bold")
        panel.y -= 1.55 * LARGE.line
        if not index:
            rule = panel.y + 0.35 * LARGE.line
            stage.page.plot([panel.box.left, panel.box.right], [rule, rule], color=stage.theme.muted, linewidth=1)


def _widest(deck: Deck) -> Optional[tuple[Mark, Mark]]:
    """The operations with the least and with the most work for each byte; None if they are one."""
    marks = sorted(_marks(deck), key=lambda mark: mark.intensity)
    return (marks[0], marks[-1]) if len(marks) > 1 else None


def table(deck: Deck) -> Slide:
    words = "Which of them wait for memory, and which for arithmetic?"
    lines, ends = _lines(deck, answered=False), _widest(deck)
    title = f"matmul does {lines[-1][5]} FLOP for each byte"
    if ends:
        least, most = ends
        title = f"{spoken(least.op)} does {digits(least.intensity)} FLOP for each byte, {spoken(most.op)} {digits(most.intensity)}"
    return Slide("operations", title, words, [" · ".join(filter(None, line[:6])) for line in lines],
                 predict(deck, "matmul", deck.shown.path[-1].shape), 5, lambda stage: _draw_table(stage, words, lines), axes=False)


def _doubled(shape: str) -> str:
    """A shape with every dimension twice as large."""
    return re.sub(r"(?<=:)\d+", lambda size: str(2 * int(size.group())), shape)


def _times_n(value: float, size: int, power: int) -> str:
    """'4n', 'n/3': a value that grows like a power of n, at one n."""
    if not power:
        return digits(value)
    each = value / size**power
    letter = f"n{superscript(power) if power > 1 else ''}"
    if each < 1:
        return f"{letter}/{digits(1 / each)}"
    return letter if digits(each) == "1" else f"{digits(each)}{letter}"


def _grown(deck: Deck, op: str) -> tuple[Mark, int, list[int]]:
    """An operation at one size, its n, and the powers of n with which its FLOPs, bytes and intensity grow."""
    shape = model.square(model.DEPTH) if op == "matmul" else model.default_shape(op, deck.device.host)
    one, two = (model.mark(deck.shown.basis, op, text, deck.scene.format) for text in (shape, _doubled(shape)))
    powers = [round(log2(after / before)) for before, after in ((one.flops, two.flops), (one.flops / one.intensity, two.flops / two.intensity),
                                                               (one.intensity, two.intensity))]
    return one, max(_sizes(one).values()), powers


def formulas(deck: Deck) -> Slide:
    """FLOPs, bytes and intensity of the operations by their n, and which intensity grows."""
    found = [_grown(deck, op) for op in dict.fromkeys(mark.op for mark in _marks(deck))]
    lines, growing = [], []
    for one, size, powers in found:
        texts = [_times_n(value, size, power) for value, power in zip((one.flops, one.flops / one.intensity, one.intensity), powers)]
        lines.append((spoken(one.op), *texts))
        growing += [lines[-1]] if powers[2] else []
    words = f"n is the length of a vector or the side of a square matrix, in {deck.scene.format}; terms of lower order are left out."
    title = f"Only {growing[0][0]} does more FLOP for each byte as it grows: {growing[0][3]}" if len(growing) == 1 else (
        "FLOP for each byte grow with n or do not")
    return Slide("formulas", title, words, [f"{name}: {flops} FLOP, {moved} bytes, {each} FLOP per byte" for name, flops, moved, each in lines],
                 predict(deck, found[-1][0].op, found[-1][0].shape), 2,
                 lambda stage: _draw_table(stage, words, lines, _FORMULA_HEAD, _FORMULA_COLUMNS), axes=False)


def _answers_title(marks: list[Mark]) -> str:
    """'ReLU, GeLU, dot and matvec wait for memory, matmul for arithmetic'"""
    limits = {"memory": [], "arithmetic": []}
    for mark in marks:
        limits[_limit_of(mark)].append(spoken(mark.op))
    parts = [(names, what) for what, names in limits.items() if names]
    verb = "wait" if len(parts[0][0]) > 1 else "waits"
    told = [f"{enumerate_words(names)} {verb if not index else ''}".strip() + f" for {what}" for index, (names, what) in enumerate(parts)]
    return ", ".join(told)


def answers(deck: Deck) -> Slide:
    """The same table after the roofline, with the limit of each operation under the roof of the units that compute it."""
    words = f"The table again, with the answers by the model for {deck.device.name} in {deck.scene.format}."
    lines = _lines(deck, answered=True)
    return Slide("answers", _answers_title(_marks(deck)), words,
                 [f"{line[0]}: {line[5]} FLOP per byte, limited by {line[6]}" for line in lines],
                 f"ridgebench predict table --on {deck.source} --format {deck.scene.format}", 3,
                 lambda stage: _draw_table(stage, words, lines), axes=False, measured=deck.measured_roof)
