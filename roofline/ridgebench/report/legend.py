"""What hue, shape, fill, size and edge of a point say. With JavaScript each entry is a filter."""

from html import escape
from typing import Iterable

from ridgebench.plot.external import STAR
from ridgebench.plot.style import shape

from . import marks
from .sources import Content
from .svg import element


def swatch(classes: str, sign: str = "o", size: float = 1.0) -> str:
    outline = element("path", class_=f"mark {classes}", d=marks.path(sign, size))
    return element("svg", outline, class_="swatch", viewBox="-8 -8 16 16", aria_hidden="true")


def kind_swatch(kind: str) -> str:
    size = marks.NAIVE if kind == "naive" else 1.0
    return swatch(f"neutral {marks.FILLS[kind]}", STAR if kind == "other tool" else "o", size)


def choice(group: str, value: int, picture: str, text: str, checked: bool = True) -> str:
    """An entry. group: the key of a point in the data of report.js; value: its index."""
    state = " checked" if checked else ""
    return (f'<label><input type="checkbox" data-filter="{group}" value="{value}"{state} hidden>'
            f"{picture}<span>{escape(text)}</span></label>")


def fieldset(name: str, choices: Iterable[str]) -> str:
    return f'<fieldset><legend>{name}</legend><div>{"".join(choices)}</div></fieldset>'


def formats(content: Content) -> list[str]:
    """The formats of rows; a data sheet may have others."""
    found = {row.format for _, row in content.rows}
    dotted = {"fp8_e5m2": " dotted"}
    return [
        choice("f", index, swatch(f"solid f{index}{dotted.get(name, '')}"), name)
        for index, name in enumerate(content.formats) if name in found
    ]


def operations(content: Content) -> list[str]:
    names = content.operations
    return [choice("o", index, swatch("neutral solid", shape(name, names)), name) for index, name in enumerate(names)]


def runs(content: Content) -> list[str]:
    return [
        choice("r", index, swatch("neutral solid" + " inked" * marks.inked(index), size=marks.run_size(index)),
               f"{run.letter}: {run.name}")
        for index, run in enumerate(content.runs)
    ]


def legend(content: Content) -> str:
    kinds = [choice("k", index, kind_swatch(name), name) for index, name in enumerate(content.kinds)]
    regimes = [choice("g", index, "", name, index == 0) for index, name in enumerate(content.regimes)]
    sets = {"Format": formats(content), "Operation": operations(content), "Implementation": kinds}
    sets |= {"Regime": regimes} if len(regimes) > 1 else {}
    sets |= {"Run": runs(content)} if len(content.runs) > 1 else {}
    return f'<div id="filters" class="filters">{"".join(fieldset(*one) for one in sets.items())}</div>'
