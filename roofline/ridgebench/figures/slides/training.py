"""The slides with what a parameter costs in training: FLOPs for each token, and bytes of state."""

from dataclasses import dataclass
from math import prod

from matplotlib.patches import Rectangle

from ridgebench.data.program import ask
from ridgebench.data.program import predict as ask_predict
from ridgebench.figures.page import labels
from ridgebench.figures.page.step import COLOUR_OF_KIND
from ridgebench.figures.page.style import blend

from .counting import LARGE, parts_of, precision_of, wide
from .deck import COMPARED, Deck, Slide, Stage

_TOKENS, _IN, _OUT = 4096, 8192, 8192  # of the linear layer whose FLOPs are counted
_FORMAT = "bf16"  # FLOPs depend on no format
# The products of a linear layer Y = X Wᵀ, with m, n, k and the layout of each.
_PRODUCTS = (
    ("forward", "the outputs Y = X W", (_TOKENS, _OUT, _IN), "nt"),
    ("backward", "the gradient of the inputs X", (_TOKENS, _IN, _OUT), "nn"),
    ("backward", "the gradient of the weights W", (_OUT, _IN, _TOKENS), "tn"),
)
# The colour of each pass is the one of what it makes or reads in the figures of memory.
_HUES = {"forward": COLOUR_OF_KIND["parameters"], "backward": COLOUR_OF_KIND["gradients"], "step": COLOUR_OF_KIND["optimizer"]}
_ONE_STATE, _STATES = "momentum", ("m", "v")  # an optimizer with one state; the names of AdamW's
_PALE = 0.75


@dataclass(frozen=True)
class _Row:
    """A number of equal blocks: what they are, when they are used."""

    name: str
    blocks: int
    used: str  # the pass that gives them their colour
    use: str


def _draw(stage: Stage, rows: list[_Row], unit: str) -> None:
    """Rows of blocks, each row with its number and its use."""
    panel, page, theme = stage.panel, stage.page, stage.theme
    side = 1.15 * LARGE.line
    start = panel.box.left + max(labels.width(row.name, LARGE.text) for row in rows) + 0.4
    beyond = start + max(row.blocks for row in rows) * 1.12 * side + 0.2
    number = max(labels.width(f"{row.blocks} {unit}", LARGE.text, "bold") for row in rows) + 0.35
    for row in rows:
        panel.y -= 1.7 * LARGE.line
        middle = panel.y + side / 2
        colour = _HUES[row.used]
        page.text(panel.box.left, middle, row.name, size=LARGE.text, va="center")
        for index in range(row.blocks):
            page.add_patch(Rectangle((start + 1.12 * index * side, panel.y), side, side, linewidth=2, edgecolor=colour,
                                     facecolor=blend(colour, theme.background, _PALE)))
        page.text(beyond, middle, f"{row.blocks} {unit}", size=LARGE.text, va="center", weight="bold")
        page.text(beyond + number, middle, row.use, size=LARGE.text, va="center")


def _each(shape: tuple[int, int, int], layout: str) -> int:
    """The FLOPs of a product for each parameter and token."""
    text = "/".join(f"{name}:{size}" for name, size in zip("mnk", shape))
    flops = ask_predict("matmul", f"{text}/layout:{layout}", _FORMAT, COMPARED[0])["flops"]
    return round(flops / prod((_TOKENS, _IN, _OUT)))


def passes(deck: Deck) -> Slide:
    rows = [_Row(of, _each(shape, layout), of, result) for of, result, shape, layout in _PRODUCTS]
    sums = {of: sum(row.blocks for row in rows if row.used == of) for of in ("forward", "backward")}
    ahead, back = sums["forward"], sums["backward"]
    words = ("A linear layer multiplies once on the way forward. On the way back it multiplies twice: for the gradient of its inputs, "
             "and for that of its weights.")
    rule = f"{ahead} + {back} = {ahead + back} FLOP for each parameter and token"

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=3)
        panel.gap(0.6)
        _draw(stage, rows, "FLOP")
        panel.gap(1.2)
        panel.text(rule, most=2, weight="bold")

    title = f"Forward {ahead}, backward {back}: {ahead + back} FLOP for each parameter and token"
    lines = [f"{row.name}, {row.use}: {row.blocks} FLOP" for row in rows]
    return Slide("passes", title, words, [*lines, rule], "ridgebench plan train --parameters 70B --tokens 15T --gpus 1024 --mfu 40% "
                 f"--on {COMPARED[0]}", 2, draw, axes=False)


def _state_rows(precision: str, on: str) -> list[_Row]:
    """The bytes of a parameter by AdamW, and who uses them."""
    def held(optimizer: str) -> dict[str, float]:
        return dict(parts_of(ask("plan", "memory", "--parameters", "1", "--gpus", "1", "--precision", precision,
                                 "--optimizer", optimizer, "--on", on)))

    of_adamw, one = held("adamw"), held(_ONE_STATE)[f"{_ONE_STATE} states"]
    found = [_Row("parameter", round(of_adamw["parameters"]), "forward", "forward and backward read it"),
             _Row("gradient", round(of_adamw["gradients"]), "backward", "backward writes it")]
    found += [_Row(f"master {name}", round(value), "step", "the optimizer updates it") for name, value in of_adamw.items()
              if name.startswith("master")]
    count = round(of_adamw["adamw states"] / one)
    return found + [_Row(f"AdamW's {name}", round(one), "step", "the optimizer reads and writes it") for name in _STATES[:count]]


def state(deck: Deck) -> Slide:
    on = deck.device.on or COMPARED[0]
    precision = precision_of(on)
    rows = _state_rows(precision, on)
    total = sum(row.blocks for row in rows)
    words = f"Training by AdamW in {precision} holds {len(rows)} numbers for each parameter, before any activation."

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=2)
        panel.gap(0.6)
        _draw(stage, rows, "bytes")

    title = f"Each parameter holds {' + '.join(str(row.blocks) for row in rows)} = {total} bytes, not {rows[0].blocks}"
    lines = [f"{row.name}: {row.blocks} bytes, {row.use}" for row in rows]
    return Slide("state", title, words, lines, f"ridgebench plan memory --parameters 70B --gpus 1 --precision {precision} --on {on}", 2, draw,
                 axes=False)
