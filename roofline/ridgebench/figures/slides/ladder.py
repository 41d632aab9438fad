"""The slide on the ladder: the steps of matmul at one size, in their order, and the library."""

from typing import Optional

from ridgebench.base.text import capital
from ridgebench.base.units import digits, percent
from ridgebench.data.power_states import differ
from ridgebench.data.records import Row, shape_text
from ridgebench.data.view import View

from .counting import wide
from .deck import Deck, Slide, Stage
from .measured import product_of, verified
from .panel import Bar

_MOST = 9  # bars with the usual space between them; more of them are closer
_CLOSE = 1.15  # lines of text from one of them to the next
# The steps in the order of docs/matmul.md and the idea that each adds. A technique `wgmma_tma_promoted` is the step `wgmma_tma`.
STEPS = {
    "naive": "one thread for one element",
    "coalesced": "threads share requests",
    "shared_tile": "tiles in shared memory",
    "register_tile": "8 × 16 elements in registers",
    "ffma_tma": "copies by TMA",
    "mma_sync": "tensor cores",
    "wgmma": "operands from shared memory",
    "wgmma_tma": "one thread copies",
    "wgmma_persistent": "blocks stay",
    "wgmma_tuned": "tile by measurement",
    "wgmma_pingpong": "consumers take turns",
    "packed": "operands in the loop's order",
    "amx": "a tile per instruction",
}


def step_of(technique: str) -> Optional[str]:
    """The step of the ladder to which a technique belongs."""
    fitting = [step for step in STEPS if technique == step or technique.startswith(f"{step}_")]
    return max(fitting, key=len, default=None)


def _rate(row: Row) -> float:
    return row.flops_per_s or 0.0


def _steps(rows: list[Row]) -> list[Row]:
    """The fastest hand-written row of each step, in the order of the ladder."""
    hand = sorted((row for row in rows if row.origin == "hand"), key=_rate)
    fastest = {step_of(row.technique): row for row in hand}
    return [fastest[step] for step in STEPS if step in fastest]


def ladder(view: View, format_: str) -> tuple[list[Row], Optional[Row]]:
    """The steps of matmul at one size, in their order, and the library's best row at that size; no step at another size.

    The size is the one at which the run has the most steps; of equal ones the largest.
    """
    by_size: dict[str, list[Row]] = {}
    for row in verified(view, format_, "matmul"):
        if row.flops_per_s and product_of(row):
            by_size.setdefault(shape_text(row.shape), []).append(row)

    chosen = max(by_size.values(), key=lambda rows: (len(_steps(rows)), rows[0].flops), default=[])
    libraries = [row for row in chosen if row.origin == "library"]
    return _steps(chosen), max(libraries, key=_rate, default=None)


def _size_of(row: Row) -> str:
    """'n = 8192' of a square product, else 'm, n, k = 256, 4096, 4096'."""
    sides = product_of(row) or ()
    return f"n = {sides[0]}" if len(set(sides)) == 1 else f"m, n, k = {', '.join(map(str, sides))}"


def _why_no_claim(view: View) -> str:
    """Why the shares carry no claim, where the last line of the slide does not say it."""
    return "" if view.why_unfinished else " --budget cut samples, so that the shares carry no claim."


def slides(deck: Deck) -> list[Slide]:
    """The slide, or none without a run that measured two steps, or a step and the library, at one size."""
    steps, library = ladder(deck.view, deck.scene.format) if deck.view else ([], None)
    rows = [*steps, *filter(None, [library])]
    if deck.view is None or not steps or len(rows) < 2:
        return []
    whole = library or max(rows, key=_rate)
    whole_run = all(map(deck.view.may_head, rows))
    size, top = _size_of(whole), max(_rate(row) for row in rows)
    words = (f"Each step adds one idea to matmul at {size}. 100 % is {whole.technique}, {deck.scene.rate(_rate(whole))}."
             f"{'' if whole_run else _why_no_claim(deck.view)}")
    if states := differ(row.power_state for row in rows):
        words += f" {capital(states)}."
    shares = [_rate(row) / _rate(whole) for row in rows]

    def draw(stage: Stage) -> None:
        panel = wide(stage, stage.panel.layout.text)
        panel.text(words, most=3)
        panel.gap(0.5)
        panel.bars([Bar(_name(row), _rate(row) / top, f"{percent(share)} %", stage.hue)
                    for row, share in zip(rows, shares)], *([_CLOSE] if len(rows) > _MOST else []))

    best = max(steps, key=_rate)
    gain = _rate(best) / _rate(steps[0])
    title = f"The steps of matmul at {size}"
    if whole_run and not deck.scene.doubt and best is not steps[0]:
        title = f"{best.technique} is {digits(gain)} times as fast as {steps[0].technique}"
    elif whole_run and not deck.scene.doubt and library:
        title = f"{best.technique} reaches {percent(_rate(best) / _rate(library))} % of the speed of {library.technique} at {size}"
    lines = [f"{row.technique}: {deck.scene.rate(_rate(row))}, {percent(share)} %" for row, share in zip(rows, shares)]
    run = f"ridgebench run --profile lecture --op matmul --format {deck.scene.format}"
    return [Slide("ladder", title, words, lines, run, 5, draw, axes=False, measured=True)]


def _name(row: Row) -> str:
    """The technique and its idea, or that it is a library's."""
    step = step_of(row.technique)
    idea = "library" if row.origin == "library" else STEPS[step] if step else ""
    return f"{row.technique}: {idea}"
