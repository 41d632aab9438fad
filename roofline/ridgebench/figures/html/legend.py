"""The meaning of hue, shape, fill, size and edge of a point. With JavaScript each entry is a filter."""

from html import escape
from typing import Iterable

from ridgebench.figures.page.external import STAR
from ridgebench.figures.page.style import shape

from . import marks
from .sources import Content
from .svg import element


def _swatch(classes: str, sign: str = "o", size: float = 1.0) -> str:
    outline = element("path", class_=f"mark {classes}", d=marks.path(sign, size))
    return element("svg", outline, class_="swatch", viewBox="-8 -8 16 16", aria_hidden="true")


def _kind_swatch(kind: str) -> str:
    size = marks.NAIVE if kind == "naive" else 1.0
    return _swatch(f"neutral {marks.FILLS[kind]}", STAR if kind == "other tool" else "o", size)


def _choice(group: str, value: int, picture: str, text: str, checked: bool = True) -> str:
    """An entry. group: the key of a point in the data of report.js; value: its index."""
    state = " checked" if checked else ""
    return (f'<label><input type="checkbox" data-filter="{group}" value="{value}"{state} hidden>'
            f"{picture}<span>{escape(text)}</span></label>")


def _fieldset(name: str, choices: Iterable[str]) -> str:
    return f'<fieldset><legend>{name}</legend><div>{"".join(choices)}</div></fieldset>'


def _formats(content: Content) -> list[str]:
    """The formats of rows; a data sheet may have others."""
    found = {row.format for _, row in content.rows}
    dotted = {"fp8_e5m2": " dotted"}
    return [
        _choice("f", index, _swatch(f"solid f{index}{dotted.get(name, '')}"), name)
        for index, name in enumerate(content.formats) if name in found
    ]


def _operations(content: Content) -> list[str]:
    names = content.operations
    return [_choice("o", index, _swatch("neutral solid", shape(name, names)), name) for index, name in enumerate(names)]


def _runs(content: Content) -> list[str]:
    return [
        _choice("r", index, _swatch("neutral solid" + " inked" * marks.inked(index), size=marks.run_size(index)),
                f"{run.letter}: {run.name}")
        for index, run in enumerate(content.runs)
    ]


def legend(content: Content) -> str:
    kinds = [_choice("k", index, _kind_swatch(name), name) for index, name in enumerate(content.kinds)]
    regimes = [_choice("g", index, "", name, index == 0) for index, name in enumerate(content.regimes)]
    sets = {"Format": _formats(content), "Operation": _operations(content), "Implementation": kinds}
    sets |= {"Regime": regimes} if len(regimes) > 1 else {}
    sets |= {"Run": _runs(content)} if len(content.runs) > 1 else {}
    return f'<div id="filters" class="filters">{"".join(_fieldset(*one) for one in sets.items())}</div>'
