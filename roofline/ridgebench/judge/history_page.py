"""The history of a gate as one HTML file: a line per row with its trend, and its runs below. Texts of others stay text."""

from html import escape
from typing import Iterable

from ridgebench.base.html_page import POLICY, digest, filled
from ridgebench.base.printers import html_table
from ridgebench.base.units import counted
from ridgebench.figures.page.style import BLUE, VERMILLION

from . import gate
from .report import FAILED, MISSING, percent
from .trend import NOTABLE, Series, limits, shown_label, shown_value, title

_BAD = (gate.WORSE, MISSING, FAILED)
_WIDTH, _HEIGHT, _MARGIN = 220, 36, 5  # of a trend, in pixels
_MOST_RUNS = 100  # that the table of a row has
_STYLE = f"""
:root {{ color-scheme: light dark; --blue: {BLUE}; --bad: {VERMILLION}; }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ padding: .25rem .7rem; text-align: left; border-bottom: 1px solid color-mix(in srgb, CanvasText 15%, Canvas); }}
.n {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
code {{ overflow-wrap: anywhere; }}
.bad {{ color: var(--bad); font-weight: 600; }}
svg {{ display: block; }}
.band {{ fill: color-mix(in srgb, CanvasText 8%, Canvas); }}
.line {{ fill: none; stroke: var(--blue); stroke-width: 1.5; }}
.dot {{ fill: var(--blue); }}
.worse {{ fill: var(--bad); }}
p {{ color: color-mix(in srgb, CanvasText 70%, Canvas); }}
"""
_BODY = """<body>
<h1>@@heading@@</h1>
<p>@@facts@@</p>
@@rows@@
<h2>Runs</h2>
@@runs@@
</body>
</html>
"""


def _trend(one: Series, last_run: int, y: tuple[float, float]) -> str:
    """The changes of a row over all runs as a small picture; `y`: the least and the largest change, in per cent."""

    def across(run: int) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * run / max(last_run, 1)

    def down(change: float) -> float:
        return _HEIGHT - _HEIGHT * (100 * change - y[0]) / (y[1] - y[0])

    points = [(across(run), down(change)) for run, change in zip(one.runs, one.changes)]
    marks = "".join(
        f'<circle class="{"worse" if entry.verdict in _BAD else "dot"}" cx="{x:.1f}" cy="{height:.1f}" r="{3 if entry.verdict in _BAD else 2}"/>'
        for (x, height), entry in zip(points, one.entries))
    top, bottom = down(NOTABLE), down(-NOTABLE)
    label = escape(f"{percent(one.changes[-1])} over {counted(len(one.runs), 'run')}", quote=True)
    return (f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
            f'<rect class="band" x="0" y="{top:.1f}" width="{_WIDTH}" height="{bottom - top:.1f}"/>'
            f'<polyline class="line" points="{" ".join(f"{x:.1f},{height:.1f}" for x, height in points)}"/>{marks}</svg>')


def _verdict(text: str) -> str:
    return f'<span class="bad">{escape(text)}</span>' if text in _BAD else escape(text)


def _summary(rows: list[Series]) -> str:
    """The table of all rows, the greatest loss first."""
    last, y = max(number for one in rows for number in one.runs), limits(rows)
    lines = [
        (f"<code>{escape(one.row)}</code>", _trend(one, last, y), escape(shown_value(one.entries[-1])), percent(one.changes[-1]),
         _verdict(one.entries[-1].verdict), escape(shown_label(one.entries[-1])))
        for one in rows
    ]
    return html_table(("Row", "Trend", "Last", "Since the first run", "Verdict of its run", "Run"), lines, right=(2, 3))


def _runs(one: Series) -> str:
    """The runs of a row, the newest first, below its name."""
    found = list(zip(one.entries, one.changes))[::-1]
    lines = [(escape(shown_label(entry)), escape(shown_value(entry)), percent(change), _verdict(entry.verdict)) for entry, change in found[:_MOST_RUNS]]
    more = len(found) - _MOST_RUNS
    left_out = f"<p>Not shown: {counted(more, 'older run')}.</p>" if more > 0 else ""
    table = html_table(("Run", "Value", "Since the first run", "Verdict"), lines, right=(1, 2))
    return f"<details><summary><code>{escape(one.row)}</code></summary>{table}{left_out}</details>"


def _metrics(rows: Iterable[Series]) -> str:
    found = dict.fromkeys(one.entries[-1].metric or "time, lower is better" for one in rows)
    return "; ".join(found)


def page(rows: list[Series], source: str) -> str:
    """The whole file."""
    facts = f"{source}: {_metrics(rows)}, against the first run of each row. The band is {100 * NOTABLE:g} %; a large dot is a run that was worse than its baseline."
    parts = {
        "policy": POLICY.format(scripts="'none'", style=digest(_STYLE)), "title": escape(f"History of {source}"), "style": _STYLE,
        "heading": escape(title(rows)), "facts": escape(facts), "rows": _summary(rows), "runs": "\n".join(map(_runs, rows)),
    }
    return filled(_BODY, parts)
