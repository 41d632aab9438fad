"""The parts of the page around picture and table: runs, rows that are not drawn, ceilings, provenance."""

import json
from html import escape
from typing import Any, Iterable, Optional

from ridgebench.base.printers import html_table
from ridgebench.base.text import capital
from ridgebench.base.units import counted, digits, percent, rate, seconds
from ridgebench.data.records import Row, shape_text
from ridgebench.data.view import View
from ridgebench.figures.page.doubt import doubt
from ridgebench.figures.page.page import footer, row_groups, storage_note, subtitle
from ridgebench.figures.page.panel import UNSETTLED_NOTE
from ridgebench.figures.page.roofline import raised_note

from .cells import text
from .links import copies, peer_copies
from .multiprocessors import multiprocessors
from .power import clock_and_power
from .presets import finding
from .sources import Content, ShownRun, placed

_LONGEST_LIST, _LONGEST_FILE = 160, 100_000  # characters


def _listed(names: str) -> str:
    """Names with '; ' between them, folded where they are many."""
    if len(names) <= _LONGEST_LIST:
        return escape(names)
    return f"<details><summary>{names.count('; ') + 1} implementations</summary>{escape(names)}</details>"


def _counts(run: ShownRun) -> str:
    """'219 verified rows, 40 ceilings, 132 skipped'."""
    verified = sum(row.drawable for row in run.rows)
    ceilings = len(run.view.verified_ceilings)
    parts = [counted(verified, "verified row"), *[counted(ceilings, "ceiling")] * bool(ceilings)]
    statuses: dict[str, int] = {}
    for row in run.view.not_ok:
        statuses[row.status] = statuses.get(row.status, 0) + 1
    parts += [f"{count} {status}" for status, count in sorted(statuses.items())]
    parts += [f"{len(run.view.external)} of another tool"] * bool(run.view.external)
    return ", ".join(parts)


def _run_card(index: int, run: ShownRun) -> str:
    facts = "<br>".join(escape(text) for text in (doubt(run.view), subtitle(run.view), _counts(run)) if text)
    return (f'<li><h3><b class="letter">{run.letter}</b> {escape(run.name)}</h3>'
            f"<p>{escape(finding(run))}</p>"
            f'<p class="quiet">{facts} · <a href="#run-{index}">provenance</a></p></li>')


def run_cards(content: Content) -> str:
    return f'<ol class="runs">{"".join(_run_card(index, run) for index, run in enumerate(content.runs))}</ol>'


def _undrawn(run: ShownRun) -> str:
    """The rows without a point, counted by status and reason."""
    rows = [(text(group.head), text(group.reason), _listed(group.names)) for group in row_groups(run.view.not_ok)]
    without = sum(not placed(row) for row in run.rows)
    if without:
        rows.append((f"no place {without}", "no FLOPs are counted: the table below the picture has them", ""))
    if run.view.torn:
        rows.append(("cut off 1", "unfinished last line of records.jsonl", ""))
    return html_table(("Rows", "Reason", "Which"), rows) if rows else "<p>None: every row of this run is drawn.</p>"


def ceiling_rate(row: Row) -> str:
    """Rate of a ceiling in the unit of its resource, or its time if it has no rate."""
    if row.saturates in ("memory", "cache", "link") and row.bytes_per_s:
        return rate(row.bytes_per_s * row.raised, "B/s")
    if row.saturates == "latency" and "accesses" in row.shape:  # of other tools' files a shape may lack it
        accesses = row.shape["accesses"]
        cycles = f", {digits(row.cycles_median / accesses)} cycles" if row.cycles_median else ""
        return f"{seconds(row.time_median_s / accesses)}{cycles} per access"
    unit = "FLOP/s" if row.saturates in ("fma", "tensor") else "results/s"
    return rate(row.flops_per_s * row.raised, unit) if row.flops_per_s else seconds(row.time_median_s)


def _ceiling_line(row: Row, view: View) -> tuple[str, ...]:
    moved = f"{100 * view.moved[row.id]:+.1f} %" if row.id in view.moved else ""
    by = f"by {percent(row.raised - 1)} %, {row.raiser}" if row.raised_by else ""
    what = (f"{row.op} {row.technique}", row.saturates or "", row.format, shape_text(row.shape))
    return (*what, ceiling_rate(row), by, moved)


def _ceilings(run: ShownRun) -> str:
    found = [map(text, _ceiling_line(row, run.view)) for row in run.view.ceilings]
    if not found:
        return "<p>This run measured no ceiling.</p>"
    return html_table(("Ceiling", "Saturates", "Format", "Shape", "Roof", "Raised", "Control moved"), found)


def _facts(run: ShownRun) -> list[tuple[str, str]]:
    environment, device = run.view.environment, run.view.device
    host = environment.get("host") or {}
    named: list[tuple[str, Any]] = [
        ("Results directory", run.folder),
        ("Device", f"{run.name} ({device['name']})"),
        ("Data sheet", device["data_sheet"]),
        ("Driver, CUDA, cuBLAS", _joined(device.get(key) for key in ("driver", "cuda", "cublas"))),
        ("Power limit", f"{device['power_limit_w']:g} W" if device.get("power_limit_w") else None),
        ("Host", _joined(host.get(key) for key in ("cpu_model", "architecture", "os", "kernel"))),
        ("Compiler", _joined((environment["build"].get("compiler"), environment["build"].get("flags")))),
        ("Command", " ".join(map(str, environment.get("command_line") or []))),
        ("Started, ended", _joined((environment.get("started"), environment.get("ended")))),
        ("Written by", footer(run.view)),
    ]
    return [(name, str(value)) for name, value in named if value]


def _joined(values: Iterable[Optional[str]]) -> str:
    return ", ".join(str(value).strip() for value in values if value)


def _notes(run: ShownRun) -> list[str]:
    view = run.view
    found = [str(note) for note in view.device.get("notes") or []]
    found += [storage_note(view), raised_note(view)]
    found += [UNSETTLED_NOTE] * bool(view.moved)
    found += [f"{capital(view.why_unfinished)}: no title rests on its rows."] * bool(view.why_unfinished)
    return [note for note in found if note]


def provenance(index: int, content: Content) -> str:
    run = content.runs[index]
    beside = [other.view for other in content.runs if other.folder == run.folder]
    lines = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in _facts(run))
    items = "".join(f"<li>{escape(note)}</li>" for note in _notes(run))
    whole = escape(json.dumps(run.view.environment, indent=1, ensure_ascii=False)[:_LONGEST_FILE])
    parts = [
        f'<h2><b class="letter">{run.letter}</b> {escape(run.name)}</h2><dl class="facts">{lines}</dl>',
        f"<ul>{items}</ul>" if items else "",
        f"<h3>Rows that are not drawn</h3>{_undrawn(run)}<h3>Ceilings</h3>{_ceilings(run)}",
        clock_and_power(run.view) + multiprocessors(run.view) + copies(run.view) + peer_copies(beside),
        f'<details><summary>environment.json</summary><pre tabindex="0">{whole}</pre></details>',
    ]
    return f'<section id="run-{index}">{"".join(parts)}</section>'
