"""The picture of a comparison: an arrow for each row whose change exceeds the noise."""

from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from roofline.plot import labels
from roofline.plot.frame import MARGIN, WIDTH, HEIGHT, add_axes, new_page, title_lines
from roofline.plot.output import FORMATS, save
from roofline.plot.records import ResultsError, clean
from roofline.plot.style import BLUE, NORMAL, SMALL, THEMES, VERMILLION, Theme, readable

from . import gate
from .report import MISSING, Report, Row
from .text import headline

MOST_ROWS = 34
NAMES = 5.4  # inches for the ids
LEAST_RANGE = 1.0  # per cent


def drawn_rows(report: Report) -> list[Row]:
    """Those with a change, the largest of them where they are too many, by id."""
    timed = [row for row in report.rows if row.change is not None]
    largest = sorted(timed, key=lambda r: (not r.beyond_noise, -abs(r.change), r.id))[:MOST_ROWS]
    return sorted(largest, key=lambda r: -r.change)


def title(report: Report) -> str:
    if report.not_comparable:
        return "These runs cannot be compared"
    slower = sum(r.beyond_noise and r.change > 0 for r in report.rows)
    faster = sum(r.beyond_noise and r.change < 0 for r in report.rows)
    if report.kind != "stored":
        counts = report.counts()
        worse, better, missing = (counts.get(v, 0) for v in (gate.WORSE, gate.BETTER, MISSING))
        tail = f", {missing} missing" if missing else ""
        return f"{worse} of {len(report.rows)} rows are worse, {better} better{tail}"
    return f"{slower} of {len(report.rows)} rows took longer than the noise explains, {faster} less"


def apart(one: str, other: str) -> tuple[str, str]:
    """Two paths without the folders in front and the names behind that they share."""
    parts = [Path(one).parts, Path(other).parts]
    for _ in ("in front", "behind"):  # turned round each time
        same = len(commonprefix(parts))
        parts = [path[same:][::-1] for path in parts]
    return (str(Path(*parts[0])), str(Path(*parts[1]))) if all(parts) else (one, other)


def subtitle(report: Report) -> str:
    stored = "description of two stored runs, not a verdict"
    word = stored if report.kind == "stored" else report.kind
    return f"{word} · {' → '.join(map(clean, apart(report.baseline, report.candidate)))}"


def hue_of_change(change: float, counts: bool, theme: Theme) -> str:
    """Of a change of time; one that does not count recedes."""
    if not counts:
        return theme.muted
    return VERMILLION if change > 0 else BLUE


def colour(row: Row, theme: Theme) -> str:
    return hue_of_change(row.change, row.beyond_noise, theme)


def draw_row(axes: Axes, row: Row, y: float, theme: Theme) -> None:
    """Interval as a thin line; an arrow from no change to the change, or a dot within the noise."""
    hue = colour(row, theme)
    low, high, change = (100 * value for value in (row.low, row.high, row.change))
    axes.plot((low, high), (y, y), color=hue, linewidth=4, alpha=0.3, solid_capstyle="butt")
    if row.beyond_noise:
        style = {"arrowstyle": "-|>", "color": hue, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (change, y), (0, y), arrowprops=style)
    else:
        axes.plot([change], [y], "o", color=hue, markersize=3.5)


def draw_axes(figure: Figure, page: Axes, rows: list[Row], top: float, theme: Theme) -> None:
    left, bottom = MARGIN + NAMES, 0.75
    axes = add_axes(figure, left, bottom, WIDTH - left - 1.9, top - bottom)
    step = (top - bottom) / max(len(rows), 1)
    reach = max([LEAST_RANGE, *(100 * abs(v) for r in rows for v in (r.low, r.high))])
    axes.set(xlim=(-1.05 * reach, 1.05 * reach), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    axes.axvline(0, color=theme.ink, linewidth=0.8)
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("change of time, % (right: slower)", size=NORMAL)
    size = min(SMALL, 60 * step)
    for y, row in enumerate(rows):
        draw_row(axes, row, y, theme)
        height = top - (y + 0.5) * step
        name = labels.fit(clean(row.id), size, NAMES - 0.15)
        page.text(left - 0.1, height, name, size=size, ha="right", va="center")
        verdict = "" if row.verdict == "DESCRIBED" else f"  {row.verdict}"
        hue = readable(colour(row, theme), theme.ink, theme.background)
        text = f"{100 * row.change:+.2f} %{verdict}"
        page.text(WIDTH - 1.8, height, text, size=size, va="center", color=hue)


def draw(report: Report, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    room, y = WIDTH - 2 * MARGIN, HEIGHT - 0.14
    size, lines = title_lines(title(report), room)
    for line in lines:
        page.text(MARGIN, y, line, size=size, weight="bold", va="top")
        y -= 0.3
    rows = drawn_rows(report)
    more = len([r for r in report.rows if r.change is not None]) - len(rows)
    notes = [subtitle(report), *report.not_comparable[:3]]
    if more > 0:
        notes.append(f"the {len(rows)} largest changes; {more} smaller ones are not drawn")
    for text in notes:
        text = labels.fit(text, NORMAL, room)
        page.text(MARGIN, y, text, size=NORMAL, color=theme.muted, va="top")
        y -= 0.2
    page.text(MARGIN, 0.1, headline(report), size=SMALL, color=theme.muted, va="bottom")
    if rows:
        draw_axes(figure, page, rows, y - 0.1, theme)
    return figure


def require_format(path: Path) -> None:
    """Raises ResultsError for a file type that is none of a figure's."""
    if path.suffix[1:] not in FORMATS:
        raise ResultsError(f"{path}: a picture is one of {', '.join('.' + f for f in FORMATS)}")


def save_picture(draw_in: Callable[[Theme], Figure], path: Path) -> None:
    save(draw_in, THEMES["light"], path.with_suffix(""), [path.suffix[1:]])


def write(report: Report, path: Path) -> None:
    save_picture(partial(draw, report), path)
