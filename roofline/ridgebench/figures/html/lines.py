"""Roofs as lines with the texts that name them."""

from dataclasses import dataclass, replace
from typing import Optional

from ridgebench.base import units
from ridgebench.base.text import cut
from ridgebench.figures.page.roofs import Roof, Roofs, engine_name, lead, memory_names, merged, of_sheet
from ridgebench.figures.scene import roofline as scene

from .sources import Content, Source

_LONGEST_LABEL = 23  # characters beside the plot


@dataclass(frozen=True)
class Line:
    """A roof. hue: a format's index."""

    kind: str  # memory, cache, flat
    place: scene.Line
    hue: Optional[int]
    formats: list[int]  # that a flat roof is of
    label: list[str]
    title: str
    short: str = ""  # the label of main memory without room
    brief: str = ""  # and where another source is the solid one
    ridge_text: str = ""


def _flat(group: list[Roof], roofs: Roofs, content: Content, label: list[str], title: str) -> Line:
    first = group[0]
    names = [name for roof in group for name in roof.formats]
    formats = [content.formats.index(name) for name in names]
    mix = f" ({first.mix})" if first.mix else ""
    return Line("flat", scene.level(first, roofs), content.formats.index(lead(names)), formats, label, title,
                ridge_text=f"{units.digits(first.ridge)}{mix}" if first.ridge else "")  # fmt: skip


def _lines_of(source: Source, promised: Optional[Roofs], content: Content) -> list[Line]:
    """The lines of a source. promised: the roofs of the data sheet of a measured device."""
    roofs, found = source.roofs, []
    for cache in roofs.caches:
        text = f"{cache.name} {units.rate(cache.value, 'B/s')}"
        found.append(Line("cache", scene.rising(cache, roofs), None, [], [text], f"{source.title}: {text}", text))
    for index, roof in enumerate(roofs.memory):
        text = f"{roof.name} {units.rate(roof.value, 'B/s')}"
        line = Line("memory", scene.rising(roof, roofs), None, [], [], f"{source.title}: {text}")
        if not index:
            name, part = memory_names(roofs)[1], of_sheet(roofs.bandwidth, promised)
            brief = f"{cut(source.short, _LONGEST_LABEL)} {units.rate(roof.value, 'B/s')}"
            line = replace(line, label=[f"{name} ({part})" if part else name], short=name, brief=brief)
        found.append(line)
    for group in merged(roofs.compute):
        speed = units.rate_in(group[0].value, content.unit[1], "FLOP/s")
        label = [engine_name(group), speed, of_sheet(group[0], promised)]
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
