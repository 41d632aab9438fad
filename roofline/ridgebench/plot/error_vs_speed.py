"""Error over speed: the gain and the cost of a smaller format."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.records import Row
from ridgebench.view import View

from . import grid
from .canvas import Limits, log_limits
from .page import header, new_page, storage_note
from .points import Place, Places, draw_points, draw_segments
from .style import SMALL, Theme
from .titles import error_title

_EXACT = 0.12  # height of the rail for rows without any error, as a share of a panel
_NAME = 0.2  # width of the rail's name and a point, as a share of a panel


def _error(row: Row) -> float:
    """Largest |output - reference|, absolute; records hold it relative to its tolerance."""
    return row.relative_error * row.verify["tolerance"]


def _limits(view: View, rows: list[Row]) -> tuple[Limits, Limits]:
    """Limits (log10) that hold all speeds, errors and tolerances; a rail below is for rows without error."""
    speeds = [row.flops_per_s / view.unit[1] for row in rows]
    errors = [e for row in rows if _error(row) for e in (_error(row), row.verify["tolerance"])]
    errors = errors or [1.0]
    low, high = log_limits(min(errors) / 2, max(errors) * 2)
    rail = (high - low) * _EXACT / (1 - _EXACT)
    return log_limits(min(speeds) / 2, max(speeds) * 2), (low - rail, high)


def _draw_tolerances(axes: Axes, rows: list[Row], place: Places, theme: Theme) -> None:
    """Draws a thin line from each error up to its tolerance, with a bar at the end."""
    rows = [row for row in rows if _error(row)]
    lines: dict[str, list[tuple[Place, Place]]] = {}
    for row in rows:
        x, y = place[row.id]
        lines.setdefault(theme.hue(row.format), []).append(((x, y), (x, row.verify["tolerance"])))
    for hue, own in lines.items():
        draw_segments(axes, own, color=hue, linewidth=0.8, alpha=0.7, zorder=3)
        axes.plot(*zip(*(end for _, end in own)), "_", color=hue, alpha=0.7, zorder=3)


def _name_rail(axes: Axes, speeds: list[float], x: Limits, theme: Theme) -> None:
    """Writes the rail's name at the right or, where a point is there, at the left."""
    right = 10 ** (x[1] - _NAME * (x[1] - x[0]))
    place, side = (0.01, "left") if max(speeds, default=0) > right else (0.99, "right")
    axes.text(place, _EXACT / 2, "no error", transform=axes.transAxes, size=SMALL, ha=side, va="center", color=theme.ink)


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    top = header(page, view, error_title(view), [storage_note(view)], theme)
    grid.draw_undrawn_below(page, view)
    rows = [r for r in view.points if r.relative_error is not None and r.flops_per_s]
    if not rows:
        return figure
    top = grid.draw_legend(page, view, theme, top - 0.05, [("solid", "up to the tolerance")])
    x, y = _limits(view, rows)
    panels = grid.make_panels(figure, page, view, (x, y), top, theme, view.operations)
    rail, edge = (10 ** (y[0] + (y[1] - y[0]) * share) for share in (_EXACT / 2, _EXACT))
    place = {row.id: (row.flops_per_s / view.unit[1], _error(row) or rail) for row in rows}
    for op, axes in panels.items():
        own = [row for row in rows if row.op == op]
        axes.axhspan(10 ** y[0], edge, color=theme.faint, zorder=1)
        axes.set_yticks([tick for tick in axes.get_yticks() if tick > edge])
        _name_rail(axes, [place[row.id][0] for row in own if not _error(row)], x, theme)
        _draw_tolerances(axes, own, place, theme)
        draw_points(axes, own, place, view, theme, power=0)
    grid.name_axes(page, view, view.unit[0], "largest error of an output", top)
    return figure
