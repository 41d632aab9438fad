"""The HTML page: one file, no network, nothing in it that a text of the results could end or start."""

import base64
import hashlib
import json
from functools import cache
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from ridgebench.plot.style import THEMES, Theme
from ridgebench.records import Row

from . import chart, frame, lines, marks, sections, table
from .sources import Content, placed

ASSETS = Path(__file__).parent / "assets"
# The policy allows the page's own two scripts and its style by their hashes, pictures of its own making, and no request.
POLICY = "default-src 'none'; script-src {scripts}; style-src {style}; img-src data: blob:; base-uri 'none'; form-action 'none'"


@cache
def asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")


def digest(text: str) -> str:
    """The hash of an inline script or style as a Content-Security-Policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def library() -> str:
    """D3 with its licence, which every copy must carry."""
    return f"/*\n{asset('d3.LICENSE')}*/\n{asset('d3.min.js')}"


def hues(theme: Theme, content: Content) -> str:
    """The colours of a theme as CSS variables, those of the formats by their index."""
    named = {"background": theme.background, "ink": theme.ink, "muted": theme.muted, "faint": theme.faint,
             "band": str(theme.band_alpha)}
    for index, name in enumerate(content.formats):
        named |= {f"hue{index}": theme.hue(name), f"text{index}": theme.text(name)}
    return "".join(f"--{name}:{value};" for name, value in named.items())


def style(content: Content) -> str:
    """report.css with the colours of the figures: hue = format, in both themes."""
    light, dark = (hues(THEMES[name], content) for name in ("light", "dark"))
    formats = "".join(f".f{index}{{--hue:var(--hue{index});--text:var(--text{index})}}\n" for index in range(len(content.formats)))
    themes = (f":root{{color-scheme:light;{light}}}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
              f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n")
    return themes + formats + asset("report.css")


def script_json(value: Any) -> str:
    """JSON that no text in it can end: a script element ends at `</script`, a comment in it begins with `<!--`."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def point_json(index: int, run: int, row: Row, content: Content) -> dict[str, Any]:
    """Place (log10) and filters of a row. w: the whisker's ends above the point."""
    found = {"i": index, "r": run, "f": content.formats.index(row.format), "o": content.operations.index(row.op),
             "a": content.formats.index(row.arithmetic) if row.arithmetic in content.formats else None,
             "k": content.kinds.index(marks.kind(row)), "g": content.regimes.index(row.regime)}
    if placed(row):
        found |= {"x": round(log10(row.intensity_flop_per_byte), 5), "y": round(log10(row.flops_per_s / content.unit[1]), 5)}
        if row.time_p10_s and row.time_p90_s:
            found["w"] = [round(log10(row.time_median_s / bound), 5) for bound in (row.time_p10_s, row.time_p90_s)]
    return found


def same_case(row: Row) -> str:
    """The id without the device, which another run may name otherwise."""
    return row.id.rpartition("@")[0] or row.id


def exceeds(one: Row, other: Row) -> bool:
    """Whether the times of two rows differ by more than both 95 % intervals: these have no value in common."""
    return one.time_ci_high_s < other.time_ci_low_s or other.time_ci_high_s < one.time_ci_low_s


def changes(content: Content) -> list[dict[str, Any]]:
    """Pairs of runs with cases in common: how many, and the rows of those that changed."""
    verified = [{same_case(row): index for index, (run, row) in enumerate(content.rows) if run == number and row.drawable and placed(row)}
                for number in range(len(content.runs))]
    found = []
    for first in range(len(verified)):
        for second in range(first + 1, len(verified)):
            common = [(index, verified[second][case]) for case, index in verified[first].items() if case in verified[second]]
            changed = [list(pair) for pair in common if exceeds(*(content.rows[index][1] for index in pair))]
            if common:
                found.append({"from": first, "to": second, "common": len(common), "changed": changed})
    return found


def data(content: Content, place: frame.Frame, drawn: list[list[lines.Line]]) -> dict[str, Any]:
    """What report.js needs beside the table."""
    return {
        "frame": {"left": frame.LEFT, "top": frame.TOP, "bottom": frame.BOTTOM, "right": frame.RIGHT, 
                  "width": frame.MOST_WIDTH, "height": frame.MOST_HEIGHT, "x": place.x, "y": place.y},
        "points": [point_json(index, run, row, content) for index, (run, row) in enumerate(content.rows)],
        "order": [index for index, _, _ in chart.drawing_order(content)],
        "sources": [{"title": source.title, "measured": source.measured, "run": source.run, "state": chart.source_class(content, index),
                     "lines": [lines.as_json(line) for line in some]}
                    for index, (source, some) in enumerate(zip(content.sources, drawn))],
        "letters": [run.letter for run in content.runs],
        "sweeps": content.sweeps,
        "changes": changes(content),
    }


def title(content: Content) -> str:
    names = list(dict.fromkeys(run.name for run in content.runs))
    return f"Roofline of {', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


def document(content: Content) -> str:
    """The whole page."""
    place, drawn = frame.make_frame(content), lines.all_lines(content)
    css, scripts = style(content), [library(), asset("report.js")]
    policy = POLICY.format(scripts=" ".join(map(digest, scripts)), style=digest(css))
    parts = {
        "policy": policy, "title": escape(title(content)), "style": css, "cards": sections.run_cards(content),
        "legend": sections.legend(content), "chart": chart.draw(content, place, drawn), "table": table.table(content),
        "rows": str(len(content.rows)),
        "provenance": "\n".join(sections.provenance(index, run) for index, run in enumerate(content.runs)),
        "data": script_json(data(content, place, drawn)), "library": scripts[0], "script": scripts[1],
    }
    # One pass over the template: a text that looks like a placeholder stays a text.
    pieces = asset("report.html").split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))
