"""The table of all rows, complete without JavaScript; its cells are the data that report.js sorts and exports."""

import re
from html import escape
from typing import Iterator

from ridgebench.base.text import cut
from ridgebench.data.records import Row

from .columns import COLUMNS, NONE, RARE, Column
from .sources import Content, ShownRun, placed

_BREAK, _WORD_BREAK = re.compile("(?<=[_/])(?=.)"), "<wbr>"  # an escaped text has neither sign within an entity


def _columns(content: Content) -> list[Column]:
    """The columns without the rare ones of which no row has a text."""

    def used(column: Column) -> bool:
        return any(column.text(row, content.runs[run].view) != NONE for run, row in content.rows)

    return [column for column in COLUMNS if column not in RARE or used(column)]


def _head(content: Content) -> str:
    cells = "".join(
        f'<th scope="col" data-key="{column.key}" data-name="{column.whole or column.head}"{_css_class(column)}>'
        f"{column.head}</th>"
        for column in _columns(content)
    )
    return f'<tr><th scope="col" data-key="run" data-name="Run">Run</th>{cells}</tr>'


def _css_class(column: Column) -> str:
    names = "n" * (column.value is not None) + " detail" * column.detail + " name" * column.breaks
    return f' class="{names.strip()}"' if names else ""


def _cell(column: Column, row: Row, run: ShownRun) -> str:
    value = column.value(row) if column.value else None
    data = "" if value is None else f' data-v="{value!r}"'
    text = escape(cut(column.text(row, run.view)))
    return f"<td{_css_class(column)}{data}>{_BREAK.sub(_WORD_BREAK, text) if column.breaks else text}</td>"


def _link(index: int, row: Row, run: ShownRun) -> str:
    """The letter of the run, which leads to the point in the picture."""
    if not placed(row):
        return f"<td>{run.letter}</td>"
    return f'<td><a href="#point-{index}" aria-label="Run {run.letter}, show the point">{run.letter}</a></td>'


def _rows(content: Content) -> Iterator[str]:
    shown = _columns(content)
    for index, (number, row) in enumerate(content.rows):
        run = content.runs[number]
        cells = "".join(_cell(column, row, run) for column in shown)
        yield f'<tr id="row-{index}">{_link(index, row, run)}{cells}</tr>'


def table(content: Content) -> str:
    body = "\n".join(_rows(content))
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="Table of rows"><table id="rows">'
            f"<thead>{_head(content)}</thead>\n<tbody>\n{body}\n</tbody></table></div>")
