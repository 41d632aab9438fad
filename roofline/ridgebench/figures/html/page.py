"""The HTML page: one file, no network, nothing in it that a text of the results could end or start."""

from functools import cache
from html import escape
from pathlib import Path

from ridgebench.base.html_page import POLICY, digest, filled, script_json
from ridgebench.base.units import and_more
from ridgebench.figures.page.style import THEMES, Theme
from ridgebench.figures.scene.roofline import SCRIPT

from . import chart, data, frame, labels, legend, lines, sections, table
from .presets import everything
from .sources import Content

_MOST_NAMES = 3  # devices in the title
ASSETS = Path(__file__).parent / "assets"


@cache
def asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")


def _library() -> str:
    """D3 with its licence, which every copy must carry."""
    return f"/*\n{asset('d3.LICENSE')}*/\n{asset('d3.min.js')}"


def _hues(theme: Theme, content: Content) -> str:
    """The colours of a theme as CSS variables, those of the formats by their index."""
    named = {"background": theme.background, "ink": theme.ink, "muted": theme.muted, "faint": theme.faint}
    named["band"] = str(theme.band_alpha)
    for index, name in enumerate(content.formats):
        named |= {f"hue{index}": theme.hue(name), f"text{index}": theme.text(name)}
    return "".join(f"--{name}:{value};" for name, value in named.items())


def _style(content: Content) -> str:
    """report.css with the colours of the figures: hue = format, in both themes. Paper is light."""
    light, dark = (f"color-scheme:{name};{_hues(THEMES[name], content)}" for name in ("light", "dark"))
    rules = [
        f":root{{{light}}}",
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}",
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}",
    ]
    for index in range(len(content.formats)):
        rules.append(f".f{index}{{--hue:var(--hue{index});--text:var(--text{index})}}")
    return "\n".join([*rules, asset("report.css")])


def _title(content: Content) -> str:
    """'Roofline of NVIDIA H200, 2 runs'."""
    models = list(dict.fromkeys(str(run.view.device["model"] or run.view.device["name"]) for run in content.runs))
    more = and_more(len(models) - _MOST_NAMES)
    number = f", {len(content.runs)} runs" if len(content.runs) > len(models) else ""
    return f"Roofline of {', '.join(models[:_MOST_NAMES])}{more}{number}"


def document(content: Content) -> str:
    """The whole page."""
    place, drawn = frame.make_frame(content), lines.all_lines(content)
    names = labels.all_labels(content, drawn, place)
    css, scripts = _style(content), [_library(), f"{SCRIPT.read_text('utf-8')}\n{asset('report.js')}"]
    policy = POLICY.format(scripts=" ".join(map(digest, scripts)), style=digest(css))
    parts = {
        "policy": policy,
        "title": escape(_title(content)),
        "heading": escape(everything(content).heading),
        "style": css,
        "cards": sections.run_cards(content),
        "legend": legend.legend(content),
        "chart": chart.draw(content, place, drawn, names),
        "table": table.table(content),
        "rows": str(len(content.rows)),
        "provenance": "\n".join(sections.provenance(index, content) for index in range(len(content.runs))),
        "data": script_json(data.data(content, place, drawn, names)),
        "library": scripts[0],
        "script": scripts[1],
    }
    return filled(asset("report.html"), parts)
