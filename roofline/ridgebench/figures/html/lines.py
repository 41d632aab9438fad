"""Roofs as lines in log10 coordinates, with the texts that name them: what both the picture and report.js draw."""

from dataclasses import asdict, dataclass, replace
from math import log10
from typing import Any, Optional

from ridgebench.base import units
from ridgebench.base.text import cut
from ridgebench.figures.page.roofs import Roof, Roofs, engine_name, memory_names, merged

from .frame import BEYOND
from .sources import Content, Source

_LONGEST_LABEL = 23  # characters beside the plot


@dataclass(frozen=True)
class Line:
    """A line from (x1, y1) to (x2, y2); low and high bound its p10-p90 band, relative to y. hue: a format's index."""

    kind: str  # memory, cache, flat
    x1: float
    y1: float
    x2: float
    y2: float
    low: float
    high: float
    hue: Optional[int]
    formats: list[int]  # that a flat roof is of
    label: list[str]
    title: str
    brief: str = ""  # the label of main memory where another source is the solid one
    ridge: Optional[float] = None  # log10 FLOP/byte of the open circle on a flat roof
    ridge_text: str = ""


def _bounds(roof: Roof) -> tuple[float, float]:
    return log10(roof.low / roof.value), log10(roof.high / roof.value)


def _diagonal(roof: Roof, roofs: Roofs, kind: str, label: list[str], title: str, scale: float) -> Line:
    """Memory or a cache: it ends at the highest flat roof."""
    slope = log10(roof.value / scale)
    end = log10(roofs.compute[0].value / scale) - slope if roofs.compute else BEYOND
    return Line(kind, -BEYOND, slope - BEYOND, end, slope + end, *_bounds(roof), None, [], label, title)


def _flat(group: list[Roof], roofs: Roofs, content: Content, label: list[str], title: str) -> Line:
    """Arithmetic: it begins at the fastest line of main memory."""
    first, scale = group[0], content.unit[1]
    height = log10(first.value / scale)
    start = log10(first.value / roofs.memory[0].value) if roofs.memory else -BEYOND
    ridge, text = (log10(first.ridge), units.digits(first.ridge)) if first.ridge else (None, "")
    formats = [content.formats.index(name) for roof in group for name in roof.formats]
    return Line("flat", start, height, BEYOND, height, *_bounds(first), formats[0], formats, label, title,
                ridge=ridge, ridge_text=text)


def _share_of(roof: Roof, promised: Optional[Roofs]) -> str:
    """'85 % of data sheet' of a measured flat roof."""
    peaks = [peak.value for peak in promised.compute if peak.name == roof.name] if promised else []
    return f"{units.percent(roof.value / peaks[0])} % of data sheet" if peaks else ""


def _memory_share(roofs: Roofs, promised: Optional[Roofs]) -> str:
    if not (promised and promised.memory and roofs.bandwidth):
        return ""
    return f" ({units.percent(roofs.bandwidth.value / promised.memory[0].value)} % of data sheet)"


def _lines_of(source: Source, promised: Optional[Roofs], content: Content) -> list[Line]:
    """The lines of a source. promised: the roofs of the data sheet of a measured device."""
    roofs, scale, found = source.roofs, content.unit[1], []
    for cache in roofs.caches:
        text = f"{cache.name} {units.rate(cache.value, 'B/s')}"
        found.append(_diagonal(cache, roofs, "cache", [text], f"{source.title}: {text}", scale))
    for index, roof in enumerate(roofs.memory):
        text = f"{roof.name} {units.rate(roof.value, 'B/s')}"
        label = [] if index else [memory_names(roofs)[1] + _memory_share(roofs, promised)]
        line = _diagonal(roof, roofs, "memory", label, f"{source.title}: {text}", scale)
        found.append(line if index else replace(line, brief=f"{cut(source.short, _LONGEST_LABEL)} {units.rate(roof.value, 'B/s')}"))
    for group in merged(roofs.compute):
        speed = units.rate(group[0].value, "FLOP/s")
        label = [engine_name(group), speed, _share_of(group[0], promised)]
        found.append(_flat(group, roofs, content, [cut(text, _LONGEST_LABEL) for text in label if text],
                           f"{source.title}: {engine_name(group)} {speed}"))
    return found


def _promised_of(source: Source, content: Content) -> Optional[Roofs]:
    """The data sheet of the device that a source measured."""
    if not source.measured or source.run is None:
        return None
    return next((s.roofs for s in content.sources if s.run == source.run and not s.measured), None)


def all_lines(content: Content) -> list[list[Line]]:
    """The lines of every source."""
    return [_lines_of(source, _promised_of(source, content), content) for source in content.sources]


def as_json(line: Line, digits: int) -> dict[str, Any]:
    return {key: round(value, digits) if isinstance(value, float) else value for key, value in asdict(line).items()}
