"""The report as one HTML page: no network, nothing in it that a text of the results could end or start."""

from functools import cache
from html import escape
from pathlib import Path

from ridgebench.base.html_page import POLICY, digest, filled, script_json
from ridgebench.base.units import and_more, counted
from ridgebench.figures.html import page as run_page
from ridgebench.fleet import findings
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.manifest import text_of
from ridgebench.fleet.states import FAIL, FAST, FINE, STATES, WARN

from . import colours, map_svg, strips, tables
from .layout import by_node, make_layout

_ASSETS = Path(__file__).parent / "assets"


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _style() -> str:
    """The style of the report of a run, then that of the fleet, with the colours of both themes. Paper is light."""
    light, dark = (f"color-scheme:{name};{colours.variables(name)}" for name in ("light", "dark"))
    rules = [
        f":root{{{light}}}",
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}",
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}",
    ]
    rules += [f".s{n}{{--fill:var(--fill{n});--text:var(--ink{n})}}" for n in range(len(colours.NAMES))]
    return "\n".join([*rules, run_page.asset("report.css"), _asset("fleet.css")])


def _tiles(assessment: Assessment) -> str:
    """The number of GPUs in each state that occurs; coverage first."""
    measured, expected = findings.coverage(assessment)
    parts = [f'<li><b>{measured:,}{f" of {expected:,}" if expected is not None else ""}</b><span>measured</span></li>']
    for state, number in reversed(findings.counts(assessment).items()):
        if number:
            severity = "fine" if state in (FINE, FAST) else STATES[state][1].lower()
            name = "well" if state == FINE else state.lower().replace("_", " ")
            parts.append(f'<li class="{severity}"><b>{number:,}</b><span>{name}</span></li>')
    return f'<ul class="tiles">{"".join(parts)}</ul>'


def _subtitle(assessment: Assessment) -> str:
    fleet = assessment.fleet
    models = list(dict.fromkeys(gpu.model for gpu in fleet.gpus if gpu.model))
    more = and_more(len(models) - 2)
    nodes = len({gpu.node for gpu in fleet.gpus})
    parts = [f"{', '.join(models[:2])}{more}", counted(nodes, "node")]
    if fleet.manifest:
        parts += [f"planned {text_of(fleet.manifest.planned)}", f"suite {fleet.manifest.suite}"]
    else:
        parts.append("without a manifest: how many GPUs there should be is unknown")
    return escape(" · ".join(filter(None, parts)))


def _choices(assessment: Assessment) -> str:
    """The rows that the map can show."""
    options = [f'<option value="{n}">{escape(column.name)}</option>' for n, column in enumerate(assessment.columns)]
    return f'<option value="-1">lowest row of each GPU</option>{"".join(options)}'


def _urgent(assessment: Assessment) -> int:
    return sum(one.severity in (FAIL, WARN) for one in findings.findings(assessment))


def document(assessment: Assessment) -> str:
    """The whole page."""
    layout = make_layout(by_node(assessment))
    css, script = _style(), _asset("fleet.js")
    policy = POLICY.format(scripts=digest(script), style=digest(css))
    number = _urgent(assessment)
    parts = {
        "policy": policy,
        "title": escape(findings.title(assessment)),
        "style": css,
        "subtitle": _subtitle(assessment),
        "tiles": _tiles(assessment),
        "findings": tables.findings_table(assessment),
        "urgent": f"{counted(number, 'thing')} to do" if number else "",
        "details": tables.soaks_table(assessment) + tables.details_table(assessment),
        "unit": "; each cell is a node, with its lowest GPU" if layout.whole_nodes else "",
        "choices": _choices(assessment),
        "map": map_svg.draw(assessment, layout),
        "key": map_svg.key(assessment, layout),
        "strips": strips.draw(assessment) if assessment.groups else "",
        "sight": "".join(f"<p>{escape(text)}</p>" for text in findings.expectation(assessment)).replace(" %", "&nbsp;%"),
        "groups": tables.groups_text(assessment),
        "differences": tables.differences_table(assessment),
        "rows": tables.rows_table(assessment),
        "data": script_json(map_svg.data(assessment, layout)),
        "script": script,
    }
    return filled(_asset("fleet.html"), parts)
