"""Slides 3 to 11: the roofline, one thing after the other, on the same axes."""

from typing import Optional

from ridgebench.base.units import digits, percent, rate
from ridgebench.data.view import OPERATIONS
from ridgebench.figures.page.finding import spoken
from ridgebench.figures.page.style import blend, shape

from . import drawing, figure, model, titles
from .deck import Deck, Slide, Stage
from .model import Mark
from .panel import Sample

_SIZE = 1.2  # of the sentence over other text
_LOW = 0.5  # share of the model below which a measured size is said to miss its roof
_POINTS = ("relu", "gelu", "dot", "matvec")  # operations that are one point each
_PALE = 0.45  # share of the background in what an earlier slide drew


def say(stage: Stage, words: str, *more: str) -> None:
    """The slide's sentence, and what follows from it."""
    stage.panel.gap(0.2)
    stage.panel.text(words, most=9, size=_SIZE)
    for one in more:
        stage.panel.gap(0.7)
        stage.panel.text(one, most=6, size=_SIZE)


def _fade(stage: Stage) -> str:
    """The colour of what an earlier slide drew."""
    return blend(stage.hue, stage.theme.background, _PALE)


def ground(stage: Stage, named: bool = True) -> None:
    """Regions, roofs and ridge, as the slides after the sixth show them."""
    deck = stage.deck
    drawing.regions(stage.plane, deck.roof, named=named, strength=0.7)
    drawing.roof(stage.plane, deck.roof, _fade(stage))
    beside = deck.shown.roofs_beside(more=deck.batching)
    drawing.roofs_beside(stage.plane, beside, deck.roof, _fade(stage), figure.own_flat(deck.shown, deck.scene.unit))
    label = f"ridge {digits(stage.deck.roof.ridge)}"
    drawing.ridge(stage.plane, stage.deck.roof, _fade(stage), label if named else "")


def points(stage: Stage, ops: tuple[str, ...], new: bool) -> None:
    """Operations by the model, and measured ones where the run has them; new ones are named."""
    colour = stage.hue if new else _fade(stage)
    for op in ops:
        for mark in (_known(stage.deck, op), stage.deck.measured(op)):
            if mark:
                drawing.mark(stage.plane, mark, colour)
        mark = stage.deck.measured(op) or _known(stage.deck, op)
        if new and mark:
            stage.plane.wish(spoken(op) + _share(stage.deck, op), mark.intensity, mark.rate, stage.theme.ink)


def _share(deck: Deck, op: str) -> str:
    """' 91 %', what an operation reaches of the model; empty if the run claims nothing of it."""
    allowed, seen = _known(deck, op), deck.measured(op)
    known = allowed and allowed.limit and seen and seen.heads and not deck.scene.doubt
    return f" {percent(allowed.limit.share(seen.place))} %" if known else ""


def _known(deck: Deck, op: str) -> Optional[Mark]:
    return next((mark for mark in deck.shown.model if mark.op == op), None)


def _shows_measured(deck: Deck, *ops: str) -> bool:
    """True if a slide with the roof and these operations shows a measurement."""
    return deck.measured_roof or any(map(deck.measured, ops))


def paths(stage: Stage, by_model: list[Mark], measured: list[Mark], new: bool) -> None:
    colour = stage.hue if new else _fade(stage)
    ink = None if new else colour
    drawing.path(stage.plane, by_model, stage.theme, colour, ink)
    drawing.path(stage.plane, measured, stage.theme, colour, ink)


def _ends(stage: Stage, marks: list[Mark], letter: str) -> None:
    """Names both ends of a path."""
    tone = drawing.legible(stage.hue, stage.theme)
    for mark in (marks[0], marks[-1]) if len(marks) > 1 else marks:
        stage.plane.wish(f"{letter} = {mark.size}", mark.intensity, mark.rate, tone)


def _kinds(stage: Stage, op: str, measured: bool) -> None:
    """The meaning of hollow and filled points, of the shape of an operation, and of thin roofs."""
    sign = shape(op, list(OPERATIONS))
    samples = [Sample("by the model", stage.hue, marker=sign, filled=False)]
    if measured:
        samples.append(Sample("measured", stage.hue, marker=sign))
    if stage.deck.shown.roofs_beside(more=stage.deck.batching):
        samples.append(Sample(drawing.OWN_MEANING, _fade(stage), width=drawing.OWN))
    stage.panel.gap(0.7)
    stage.panel.key(samples)


def predict(deck: Deck, op: str, sizes: str = "") -> str:
    """The command that gives an operation's numbers again, at the size of its point."""
    mark = _known(deck, op)
    sizes = sizes or (mark.shape if mark else model.default_shape(op, deck.device.host))
    return f"ridgebench predict {op} {sizes} --format {deck.scene.format} --on {deck.source}"


def _axes(deck: Deck) -> Slide:
    words = ("To the right, an operation computes more for each byte that it moves. Upwards, it computes faster.",
             "Both axes count in powers of ten.")
    return Slide("axes", "To the right more work per byte, upwards more speed", " ".join(words), [], deck.command, 2,
                 lambda stage: say(stage, *words))


def _slope(deck: Deck) -> Slide:
    speed = rate(deck.roof.bytes_per_s, "B/s")
    words = f"Every byte must come from memory, at {speed}. Twice the work per byte gives twice the speed."

    def draw(stage: Stage) -> None:
        drawing.slope(stage.plane, deck.roof, stage.hue)
        say(stage, words)

    title = f"At {speed}, twice the work per byte is twice the speed"
    return Slide("bandwidth", title, words, [f"bandwidth {speed}"], info(deck), 3, draw, measured=deck.measured_roof)


def info(deck: Deck) -> str:
    return f"ridgebench info --on {deck.source}"


def _flat(deck: Deck) -> Slide:
    speed = deck.scene.rate(deck.roof.flops_per_s)
    words = f"Matrix products end at {speed} in {deck.scene.format}, however much work there is per byte."

    def draw(stage: Stage) -> None:
        drawing.slope(stage.plane, deck.roof, _fade(stage))
        drawing.flat(stage.plane, deck.roof, stage.hue)
        say(stage, words)

    return Slide("peak", f"Arithmetic ends at {speed}, a flat roof", words, [f"peak {speed}"], info(deck), 3, draw,
                 measured=deck.measured_roof)


def _roof(deck: Deck) -> Slide:
    ridge = digits(deck.roof.ridge)
    words = (f"The lower of the two limits counts. Left of {ridge} FLOP per byte, memory limits a matrix product; right of it, "
             "arithmetic does.")

    def draw(stage: Stage) -> None:
        drawing.regions(stage.plane, deck.roof, named=True)
        drawing.roof(stage.plane, deck.roof, stage.hue)
        drawing.ridge(stage.plane, deck.roof, stage.hue, f"ridge {ridge}")
        say(stage, words)

    return Slide("roofline", f"Memory limits up to {ridge} FLOP per byte, arithmetic beyond", words, [f"ridge {ridge} FLOP per byte"],
                 info(deck), 5, draw, measured=deck.measured_roof)


def _numbers(deck: Deck, op: str) -> list[str]:
    """The model's answer for an operation, and the measured one."""
    mark, seen = _known(deck, op), deck.measured(op)
    found = []
    for one, who in ((mark, "by the model"), (seen, f"measured ({seen.technique})" if seen else "")):
        if one and one.heads:
            found.append(f"{spoken(op)} {who}: {digits(one.intensity)} FLOP per byte, {deck.scene.rate(one.rate)}, "
                         f"{titles.duration(one.seconds)}")
    return found


def _relu(deck: Deck) -> Slide:
    mark, seen = _known(deck, "relu"), deck.measured("relu")
    if mark is None:
        words = f"ReLU is not computed in {deck.scene.format}: it is stored in a wider format."
    else:
        words = (f"ReLU does one operation for two numbers that it moves: {digits(mark.intensity)} FLOP per byte. "
                 f"The model allows {deck.scene.rate(mark.rate)}.")
    more = [f"The run measured {deck.scene.rate(seen.rate)}."] if seen and seen.heads else []

    def draw(stage: Stage) -> None:
        ground(stage)
        points(stage, ("relu",), new=True)
        say(stage, words, *more)
        _kinds(stage, "relu", bool(seen))

    title = "ReLU waits for memory" if mark is None or mark.waits else "ReLU waits for arithmetic"
    return Slide("relu", title, " ".join([words, *more]), _numbers(deck, "relu"),
                 predict(deck, "relu"), 5, draw, measured=_shows_measured(deck, "relu"))


def _gelu(deck: Deck) -> Slide:
    pair = titles.times(deck.shown, deck.scene.format)
    words = titles.pair_words(pair)

    def draw(stage: Stage) -> None:
        ground(stage)
        points(stage, ("relu", "gelu"), new=True)
        say(stage, words)
        if pair is None:
            return
        stage.panel.gap(0.8)
        stage.panel.bars(figure.bars_of(pair, stage.hue))
        _kinds(stage, "gelu", bool(deck.measured("gelu")))

    return Slide("gelu", titles.pair_title(pair), words, _numbers(deck, "relu") + _numbers(deck, "gelu"),
                 predict(deck, "gelu"), 5, draw, measured=_shows_measured(deck, "relu", "gelu"))


def batching(deck: Deck) -> Slide:
    bend = model.crossing(deck.roof, lambda m: model.rows_of(m, deck.depth), deck.scene.format)
    words = "One vector reads a whole matrix for itself: one user who decodes. More rows share the bytes of the matrix."
    more = [f"Above {bend - 1} rows the product is compute-bound."] if bend else []

    def draw(stage: Stage) -> None:
        ground(stage)
        points(stage, ("relu", "gelu"), new=False)
        points(stage, ("matvec", "dot"), new=True)
        paths(stage, deck.batching, deck.measured_batching, new=True)
        _ends(stage, deck.batching, "m")
        grown = f"m = {deck.batching[0].size} to {deck.batching[-1].size}"
        rows = f"The path: {grown} rows times a matrix of {deck.depth} × {deck.depth}."
        say(stage, words, rows)
        _kinds(stage, "matmul", bool(deck.measured_batching) or any(map(deck.measured, _POINTS)))

    title = f"Batching climbs the slope: m = {bend} rows reach the ridge" if bend else "Batching climbs the slope"
    return Slide("batching", title, " ".join([words, *more]),
                 _numbers(deck, "dot") + _numbers(deck, "matvec"),
                 predict(deck, "matmul", model.rows_of(1, deck.depth)), 6, draw,
                 measured=_shows_measured(deck, *_POINTS) or bool(deck.measured_batching))


def _matmul_title(deck: Deck) -> str:
    """True if the measured path follows the roof from its smallest size on."""
    allowed = {mark.size: mark.rate for mark in deck.shown.path}
    path = deck.shown.measured_path
    if path and (deck.scene.doubt or not all(mark.heads for mark in path)):
        return "By the model, matmul climbs and bends at the ridge"
    below = [mark for mark in path if mark.rate < _LOW * allowed.get(mark.size, 0.0)]
    if not below:
        return "Matmul climbs, and bends at the ridge"
    return f"Matmul climbs: at {deck.shown.letter} = {below[0].size} it stays below half of the roof"


def matmul(deck: Deck) -> Slide:
    shown, side = deck.shown, deck.shown.fixed
    letter, marks = shown.letter, shown.measured_path
    bend = model.crossing(deck.roof, (lambda k: model.depth_of(k, side)) if side else model.square, deck.scene.format)
    words = (f"A product with a result of {side} × {side} does more work for each byte as k grows." if side else
             "A product of two n × n matrices does 2n³ FLOPs with 3n² numbers. Its intensity grows with n.")
    more = [f"It bends at {letter} ≈ {bend - 1}: from there arithmetic is the limit."] if bend else []
    top = max(marks, key=lambda mark: mark.rate, default=None)
    seen = [f"The run reached {deck.scene.rate(top.rate)} at {letter} = {top.size}."] if top and top.heads else []

    def draw(stage: Stage) -> None:
        ground(stage)
        points(stage, _POINTS, new=False)
        paths(stage, deck.shown.path, deck.shown.measured_path, new=True)
        _ends(stage, shown.path, letter)
        say(stage, words, *more, *seen)
        _kinds(stage, "matmul", bool(marks))

    return Slide("matmul", _matmul_title(deck), " ".join([words, *more, *seen]),
                 [f"{letter} = {mark.size}: {digits(mark.intensity)} FLOP per byte, {deck.scene.rate(mark.rate)}"
                  for mark in deck.shown.path],
                 predict(deck, "matmul", shown.path[-1].shape), 6, draw, measured=_shows_measured(deck, *_POINTS) or bool(marks))


SLIDES = (_axes, _slope, _flat, _roof, _relu, _gelu, batching, matmul)
