"""Where the texts of a figure are: sizes, overlaps, and what lies outside of the page."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SPARE = 1.5  # pixels that the boxes of two texts may share: lines of one paragraph touch


def near_axes(figure: Figure, axes: Axes, texts: list[Text], least: float) -> list[str]:
    """Texts within axes that are nearer than `least` inches to the left or the lower one."""
    frame, renderer = axes.get_window_extent(), FigureCanvasAgg(figure).get_renderer()
    placed = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    within = [(name, box) for name, box in placed if box.x1 > frame.x0 and box.y1 > frame.y0 and box.x0 < frame.x1]
    return [name for name, box in within if min(box.x0 - frame.x0, box.y0 - frame.y0) < least * figure.dpi]


def visible_texts(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]


def boxes(figure: Figure, texts: list[Text]) -> list[tuple[str, Bbox]]:
    """The extent of each text in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts]


def faults(figure: Figure, texts: list[Text], least: float) -> list[str]:
    """Texts that are smaller than `least` points, that overlap or that leave the page."""
    found = [f"{text.get_fontsize():.1f} pt: {text.get_text()}" for text in texts if text.get_fontsize() < least - 1e-9]
    placed, page = boxes(figure, texts), figure.bbox
    for name, box in placed:
        if box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1:
            found.append(f"cut: {name}")
    for (one, a), (other, b) in combinations(placed, 2):
        a, b = a.padded(-SPARE), b.padded(-SPARE)
        if a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1:
            found.append(f"overlap: {one} | {other}")
    return found
