"""The slide with the tokens from which a product of a language model is compute-bound, by the bytes of its weights."""

from dataclasses import dataclass
from math import log
from typing import Optional

from ridgebench.base.units import digits, rate
from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.program import ask
from ridgebench.figures.page import labels
from ridgebench.figures.page.style import Theme, readable

from .counting import LARGE, precision_of, wide
from .deck import COMPARED, Deck, Slide, Stage
from .devices import short

_MODEL, _PRODUCT = "llama-3-8b", "gate_up"  # its largest product
_MOST = 4096  # tokens of the figure
_NARROW = ("bf16", "fp16")  # in which a model is computed
_STORED = ("fp8", "int8")  # formats of weights beside that of the products


@dataclass(frozen=True)
class _Curve:
    """The rate of the product over its tokens, with weights of some formats."""

    weights: tuple[str, ...]
    points: list[tuple[int, float]]  # tokens, FLOP/s
    bend: Optional[int]  # the least tokens at which it is compute-bound

    @property
    def name(self) -> str:
        return f"{' or '.join(self.weights)} weights"

    def hue(self, theme: Theme) -> str:
        """The colour of the format of the weights, as in every figure."""
        return theme.hue(self.weights[0])


def _products(on: str, format_: str, weights: str, tokens: list[int]) -> list[dict]:
    """The program's answer on the product at each number of tokens."""
    stored = () if weights == format_ else ("--weights", weights)
    answer = ask("predict", "model", _MODEL, "--on", on, "--format", format_, *stored, "--context", "1",
                 "--batch", ",".join(map(str, tokens)))
    found = [one for phase in answer["phases"] if phase["phase"] == "decode" for one in phase["operations"]]
    return [one for one in found if one["name"] == _PRODUCT]


def _bend(on: str, format_: str, weights: str) -> Optional[int]:
    """The least tokens at which the product is compute-bound, of those up to _MOST."""
    low, high = 0, _MOST
    if _products(on, format_, weights, [high])[0]["bound"] != "compute":
        return None
    while high - low > 1:
        step = max(1, (high - low) // 64)
        tried = list(range(low + step, high, step))
        found = _products(on, format_, weights, tried)
        bound = [size for size, one in zip(tried, found) if one["bound"] == "compute"]
        high = min([high, *bound])
        low = max([low, *(size for size in tried if size < high)])
    return high


def _curves(on: str, format_: str) -> list[_Curve]:
    """A curve for the format of the products, and one for each other width of the weights."""
    curves: list[_Curve] = []
    for weights in (format_, *_STORED):
        bend = _bend(on, format_, weights)
        sizes = sorted({1 << power for power in range(_MOST.bit_length())} | ({bend} if bend else set()))
        points = [(size, one["flops"] / one["time_lower_bound_s"]) for size, one in zip(sizes, _products(on, format_, weights, sizes))]
        same = next((index for index, one in enumerate(curves) if one.points == points), None)
        if same is None:
            curves.append(_Curve((weights,), points, bend))
        else:
            curves[same] = _Curve((*curves[same].weights, weights), points, bend)
    return curves


def _title(curves: list[_Curve]) -> str:
    first, last = curves[0], curves[-1]
    if first.bend is None:
        return f"{digits(_MOST)} tokens do not make a product compute-bound"
    if last is first or last.bend is None:
        return f"A product of {_MODEL} is compute-bound from {first.bend} tokens on"
    return f"Compute-bound from {first.bend} tokens on; with {last.name} from {last.bend}"


def tokens(deck: Deck) -> Slide:
    on = deck.device.on or COMPARED[0]
    format_ = deck.scene.format if deck.device.on and deck.scene.format in _NARROW else precision_of(on)
    curves = _curves(on, format_)
    shape = _products(on, format_, format_, [1])[0]["shape"]
    words = (f"The largest product of a layer of {_MODEL} reads {shape['n']} × {shape['k']} weights for all of its tokens, "
             f"here on {short(find_sheet(on).name)}. Narrower weights are fewer bytes, and {format_} still does the arithmetic.")

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=3)
        panel.gap(0.8)
        _draw(stage, curves)

    lines = [f"{curve.name}: compute-bound from {curve.bend} tokens on" if curve.bend else f"{curve.name}: memory-bound up to {_MOST} tokens"
             for curve in curves]
    command = f"ridgebench predict model {_MODEL} --on {on} --format {format_} --weights {_STORED[-1]} --context 1 --batch 64,512"
    return Slide("tokens", _title(curves), words, lines, command, 3, draw, axes=False)


def _draw(stage: Stage, curves: list[_Curve]) -> None:
    """Rates over tokens on logarithmic axes; each curve is named at its left end, and its bend has a line down to its tokens."""
    panel, theme, layout = stage.panel, stage.theme, stage.panel.layout
    top = max(value for curve in curves for _, value in curve.points)
    least = min(value for curve in curves for _, value in curve.points)
    peak = rate(top, "FLOP/s")
    names = max(labels.width(curve.name, LARGE.text) for curve in curves)
    left, low = panel.box.left + names + 0.5, panel.box.bottom + 2.7 * LARGE.line
    right = panel.box.right - labels.width(peak, LARGE.text) - 0.25
    box = (left / layout.width, low / layout.height, (right - left) / layout.width, (panel.y - low) / layout.height)
    axes = stage.figure.add_axes(box, zorder=1)
    axes.set(xscale="log", yscale="log", xlim=(1, _MOST), ylim=(least, top))
    last = max(curve.bend or 0 for curve in curves)
    for curve, dash in zip(curves, ("solid", (0, (4, 1.5)), (0, (1, 1)))):
        colour = curve.hue(theme)
        axes.plot(*zip(*curve.points), color=colour, linewidth=layout.stroke, linestyle=dash, clip_on=False, zorder=3)
        if curve.bend:
            axes.plot([curve.bend] * 2, [least, top], color=colour, linewidth=layout.stroke / 4, linestyle=(0, (3, 2)))
            right_of = curve.bend == last
            axes.annotate(f"{curve.bend:,}", (curve.bend, least), (8 if right_of else -8, 5), textcoords="offset points", va="bottom",
                          ha="left" if right_of else "right", size=LARGE.text, weight="bold")
    axes.annotate(peak, (_MOST, top), (8, 0), textcoords="offset points", va="center", size=LARGE.text, annotation_clip=False)
    axes.set_xticks((1, _MOST), ("1", f"{_MOST:,}"))
    axes.set_xticks([], minor=True)
    axes.set_yticks([])
    axes.set_yticks([], minor=True)
    axes.tick_params(labelsize=LARGE.text, length=4, labelcolor=theme.ink)
    stage.page.text((left + right) / 2, low - 1.25 * LARGE.line, "tokens", size=LARGE.text, ha="center", va="top")
    axes.spines[["top", "right"]].set_visible(False)
    high = (panel.y - low) / log(top / least)
    _name(stage, curves, [low + high * log(curve.points[0][1] / least) for curve in curves], left)


def _name(stage: Stage, curves: list[_Curve], ends: list[float], left: float) -> None:
    """Names the curves left of their first points, apart from one another."""
    heights = labels.spread(ends, 1.15 * LARGE.line, stage.panel.box.bottom, stage.panel.y)
    for curve, end, height in zip(curves, ends, heights):
        stage.page.plot([left - 0.3, left - 0.06], [height, end], color=stage.theme.muted, linewidth=stage.panel.layout.stroke / 6)
        stage.page.text(left - 0.38, height, curve.name, size=LARGE.text, ha="right", va="center",
                        color=readable(curve.hue(stage.theme), stage.theme.ink, stage.theme.background))
