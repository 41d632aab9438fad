"""Error over speed: the gain and the cost of a smaller format."""

from math import log2, sqrt

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from ridgebench.base.units import counted, digits, enumerate_words, superscript
from ridgebench.data.records import Row
from ridgebench.data.view import PRODUCTS, View
from ridgebench.figures.scene.axes import Limits, log_span

from . import grid
from .canvas import across
from .doubt import unfinished_title
from .finding import spoken
from .page import header, new_page, storage_note
from .points import Places, draw_points
from .style import SMALL, Theme

_EXACT = 0.12  # height of the rail for rows without any error, as a share of a panel
_FROM_EDGE = 0.02  # of a panel, to the name of its rail
_NAME = 0.2  # width of the rail's name and a point, as a share of a panel
# Powers of two by which rounding to a format changes a number at most, relative: half its epsilon (kernels/common/format.hpp).
ROUNDING = {"fp32": -24, "tf32x3": -24, "tf32": -11, "fp16": -11, "bf16": -8, "fp8_e4m3": -4, "fp8_e5m2": -3}
_VARIANCE = {"normal": 1.0, "uniform": 1 / 3, "integers": 2.0}  # of an input, by fill (kernels/common/random.hpp)
_TERMS = {"dot": "n", "matvec": "n", "matmul": "k", "matmul_gelu": "k"}  # the dimension over which an operation sums products
_NONE = 2.0**-30  # errors below count as none: kernels compute in formats that round at 2^-24 or above
_APART = 0.17  # inches between two numbers of the y axis
_SAME = 1.05  # speeds that differ by less are not compared


def _scale(view: View, row: Row) -> float:
    """The size of a typical output: the standard deviation of a sum of products of the inputs, or of one input.

    1 where the fill is unknown or constant; errors are then absolute.
    """
    variance = _VARIANCE.get(view.environment.get("fill") or "normal")
    if variance is None:
        return 1.0
    terms = row.shape.get(_TERMS.get(row.op, ""), None)
    known = isinstance(terms, (int, float)) and terms > 0
    return variance * sqrt(terms) if known else sqrt(variance)


def error_of(view: View, row: Row) -> float:
    """Largest |output - reference| over a typical output, 0 below _NONE; records hold it over its tolerance."""
    error = row.relative_error * row.verify["tolerance"] / _scale(view, row)
    return error if error >= _NONE else 0.0


def _bits(value: float) -> str:
    """The nearest power of two: '2⁻⁸'."""
    return f"2{superscript(round(log2(value)))}"


def _checked(view: View) -> list[Row]:
    return [row for row in view.points if row.relative_error is not None and row.flops_per_s]


def _fastest(view: View) -> list[Row]:
    """The fastest row of each format, of the operation with the most formats, the slowest first; products come first."""
    rows = sorted((row for row in _checked(view) if error_of(view, row) and not row.naive), key=lambda row: row.flops_per_s or 0.0)
    by_op = {op: {row.format: row for row in rows if row.op == op} for op in [*PRODUCTS, *view.operations]}
    return sorted(max(by_op.values(), key=len, default={}).values(), key=lambda row: row.flops_per_s or 0.0)


def _errors_title(view: View, rows: list[Row]) -> str:
    """'matmul errs by 2⁻¹⁶ of a typical output in fp32, 2⁻⁸ in bf16 and 2⁻⁵ in fp8_e4m3', of the least, a middle and the largest error."""
    ordered = sorted(rows, key=lambda row: error_of(view, row))
    chosen = list({row.id: row for row in (ordered[0], ordered[len(ordered) // 2], ordered[-1])}.values())
    first, *more = [f"{_bits(error_of(view, row))}{' of a typical output' if not index else ''} in {row.format}"
                    for index, row in enumerate(chosen)]
    return f"{spoken(rows[0].op)} errs by {enumerate_words([first, *more])}"


def title(view: View) -> str:
    """The gain of the fastest format over the most exact one, and the ratio of their errors.

    A budget that cut samples, which speeds rest on, leaves the errors.
    """
    if view.why_unfinished:
        return unfinished_title(view)
    checked, rows = _checked(view), _fastest(view)
    if not rows:
        left = [row for row in checked if error_of(view, row)]
        return f"{'Errors of ' * bool(left)}{counted(len(checked), 'verified row')}{'' if left else ' without any error'}"
    fast, exact = rows[-1], min(rows, key=lambda row: error_of(view, row))
    faster = (fast.flops_per_s or 0.0) / (exact.flops_per_s or 1.0)
    if not (view.may_head(fast) and view.may_head(exact)) or faster < _SAME or not _rounded(view):
        return _errors_title(view, rows)
    return (f"{fast.format} {spoken(fast.op)} is {digits(faster)} times as fast as {exact.format}, and errs by "
            f"{_bits(error_of(view, fast))} of a typical output in place of {_bits(error_of(view, exact))}")


def _limits(view: View, rows: list[Row]) -> tuple[Limits, Limits]:
    """Limits (log10) that hold all speeds, errors and roundings; a rail below is for rows without error."""
    speeds = [row.flops_per_s / view.unit[1] for row in rows]
    errors = [error for row in rows if (error := error_of(view, row))] + [2.0 ** ROUNDING[name] for name in _rounded(view)]
    low, high = log_span(errors or [1.0], 2)
    rail = (high - low) * _EXACT / (1 - _EXACT)
    return log_span(speeds, 2), (low - rail, high)


def _rounded(view: View) -> list[str]:
    """The formats whose rounding is a line; none where errors are absolute."""
    return [name for name in view.formats if name in ROUNDING] if (view.environment.get("fill") or "normal") in _VARIANCE else []


def _style_errors(axes: Axes, view: View, y: Limits, edge: float, height: float) -> None:
    """Powers of two as numbers of the y axis: the roundings of the formats, else every fourth one."""
    named = sorted({ROUNDING[name] for name in _rounded(view)})
    low, high = log2(edge), y[1] * log2(10)
    inch = (high - y[0] * log2(10)) / height
    kept: list[int] = []
    for power in [*named, *range(-60, 60, 4)]:
        if low < power < high and all(abs(power - other) > _APART * inch for other in kept):
            kept.append(power)
    axes.yaxis.set_major_locator(FixedLocator([2.0**power for power in sorted(kept)]))
    axes.yaxis.set_major_formatter(FixedFormatter([_bits(2.0**power) for power in sorted(kept)]))


def _name_rail(axes: Axes, speeds: list[float], x: Limits, theme: Theme) -> None:
    """Writes the rail's name at the right or, where a point is there, at the left."""
    right = 10 ** (x[1] - _NAME * (x[1] - x[0]))
    place, side = (_FROM_EDGE, "left") if max(speeds, default=0) > right else (1 - _FROM_EDGE, "right")
    axes.text(place, _EXACT / 2, "no error", transform=axes.transAxes, size=SMALL, ha=side, va="center", color=theme.ink)


def _draw_roundings(axes: Axes, view: View, rows: list[Row], theme: Theme) -> None:
    """A line in the hue of each format of a panel: by how much a single rounding to it changes a number at most."""
    for name in _rounded(view):
        if any(row.format == name for row in rows):
            across(axes, 2.0 ** ROUNDING[name], color=theme.hue(name), linewidth=1.0, linestyle="dotted", zorder=2)


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    top = header(page, view, title(view), [storage_note(view)], theme)
    grid.draw_undrawn_below(page, view)
    rows = _checked(view)
    if not rows:
        return figure
    lines = [("dotted", "one rounding to the format")] * bool(_rounded(view))
    top = grid.draw_legend(page, view, theme, top - 0.05, lines)
    x, y = _limits(view, rows)
    panels = grid.make_panels(figure, page, view, (x, y), top, theme, view.operations)
    rail, edge = (10 ** (y[0] + (y[1] - y[0]) * share) for share in (_EXACT / 2, _EXACT))
    place: Places = {row.id: (row.flops_per_s / view.unit[1], error_of(view, row) or rail) for row in rows}
    for op, axes in panels.items():
        own = [row for row in rows if row.op == op]
        axes.fill_between(axes.get_xlim(), 10 ** y[0], edge, color=theme.faint, linewidth=0, zorder=1)
        _style_errors(axes, view, y, edge, axes.get_position().height * figure.get_figheight())
        _name_rail(axes, [place[row.id][0] for row in own if not error_of(view, row)], x, theme)
        _draw_roundings(axes, view, own, theme)
        draw_points(axes, own, place, view.operations, theme, power=0)
    what = "largest error of a typical output" if _rounded(view) else "largest error of an output"
    grid.name_axes(page, view, view.unit[0], what, top)
    return figure
