"""Tables of one run in Markdown, as README.md and docs/*.md show them."""

from typing import Any, Iterable, Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.printers import markdown_table
from ridgebench.base.text import capital, markdown, page_lines
from ridgebench.base.units import and_more, digits, percent
from ridgebench.data import transfers
from ridgebench.data.doubts import UNSETTLED
from ridgebench.data.judged import ABOVE_ROOF, MARGIN, RAISED, percent_of_roof
from ridgebench.data.power_states import differ
from ridgebench.data.records import Row, commit_of, date_of, named_sizes, of_a_batch, shape_text
from ridgebench.data.view import OPERATIONS, ORDER, View, ordered

EXCESS = f"{percent(MARGIN)}\u00a0%"  # what raises a roof
RAISED_NOTE = f"The arrow {RAISED} marks a rate more than {EXCESS} above the measured ceiling of its roof; such a rate raises the roof."
MOVED_NOTE = f"The sign {UNSETTLED} marks a share of a roof that moved by more than 2\u00a0% during the run."
_MOST_NAMES = 2  # of techniques in one cell
MIXED = "xfp8_"  # part of the name of a pair of fp8 formats
UNITS = {"GB/s": ("bytes_per_s", 1e9), "GFLOP/s": ("flops_per_s", 1e9), "TFLOP/s": ("flops_per_s", 1e12)}


def captioned(table: str, *sentences: str) -> str:
    """The table and below it the sentences, in lines of the page's width."""
    caption = " ".join(sentence for sentence in sentences if sentence)
    return f"{table}\n\n{page_lines(caption)}".lstrip()


def provenance(view: View, link: str) -> str:
    """The run, as a link, and its device; it ends a sentence."""
    environment, device = view.environment, view.device
    changes = " with changes" if environment["dirty"] else ""
    threads = f", {device['threads']} threads" if device.get("threads") else ""
    return f"[{date_of(environment)}, {commit_of(environment)}{changes}]({link}) of {markdown(device['model'])}{threads}{', unfinished' if view.why_unfinished else ''}"


def _technique_names(rows: list[Row], origin: str) -> str:
    """The techniques, those with the highest FLOP/s or byte/s first; beyond _MOST_NAMES their number."""
    mine = [row for row in rows if row.origin == origin]
    names = list(dict.fromkeys(row.technique for row in sorted(mine, key=_speed, reverse=True)))
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMES])
    return shown + and_more(len(names) - _MOST_NAMES)


def format_names(formats: list[str]) -> str:
    """The formats; those whose operands differ, such as fp8_e4m3xfp8_e5m2, count as one."""
    names = ["mixed fp8" if MIXED in name else name for name in formats]
    return ", ".join(dict.fromkeys(names))


def operations_table(view: View, link: str) -> str:
    """The table of verified formats and techniques of each operation."""
    table = []
    for op in view.operations:
        rows = [row for row in view.points if row.op == op]
        formats = ordered({row.format for row in rows}, ORDER)
        names = [_technique_names(rows, origin) for origin in ("hand", "library")]
        table.append([op, format_names(formats), *names])
    header = ["operation", "verified formats", "hand-written", "library"]
    return captioned(
        markdown_table(header, table), "The fastest techniques come first.", f"Their rows were verified in {provenance(view, link)}."
    )


def transfers_table(view: View, link: str) -> str:
    """The table of copies over the device's links, and of the time in which a kernel creates as many bytes on the device."""
    found = transfers.cells(view)
    if not found:
        return captioned("", f"No copy over a link was measured in {provenance(view, link)}.")
    table = markdown_table([name.lower() for name in transfers.HEAD], found)
    return captioned(table, transfers.note(view), f"The rates come from {provenance(view, link)}.")


def _speed(row: Row) -> float:
    return row.flops_per_s or row.bytes_per_s or 0


def _largest(rows: list[Row]) -> dict[tuple[str, str], Row]:
    """The row that moves the most bytes, by technique and format; of equal ones the one of layout nt."""
    found: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda r: (r.bytes, r.shape.get("layout") == "nt")):
        found[row.technique, row.format] = row
    return found


def _cell(row: Optional[Row], unit: str, view: View) -> str:
    """The rate of a row and its share of the roof, with `~` where the roof moved during the run."""
    if row is None or row.status == "skipped":
        return "–"
    if not row.drawable:
        return row.status
    key, scale = UNITS[unit]
    share = row.fraction_of_measured_roof
    rate = digits(getattr(row, key) / scale)
    if share is None:
        return rate
    mark = RAISED if ABOVE_ROOF in row.flags else ""
    return f"{rate} ({UNSETTLED * bool(view.unsettled(row))}{percent_of_roof(share)}\u00a0%{mark})"  # no line break before the sign


def size_text(shape: dict[str, Any]) -> str:
    """`1024³, nt`, `32768²`, `64 × 8192 × 8192, nt` or `536870912`; of a batch `64³, nt, b 8`."""
    more = of_a_batch(shape)
    sizes = [str(value) for name, value in shape.items() if not isinstance(value, (str, float)) and name not in more]
    equal = len(set(sizes)) == 1 and 2 <= len(sizes) <= 3
    text = sizes[0] + " ²³"[len(sizes) - 1] if equal else " × ".join(sizes)
    layout = f", {shape['layout']}" if "layout" in shape else ""
    return text + layout + named_sizes(shape)


class _Step:
    """One line of a ladder: a technique at one size, in the formats that it serves."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {row.format: row for row in rows}
        self.technique, self.library = rows[0].technique, rows[0].origin == "library"
        self.size = size_text(rows[0].shape)
        self.speed = max(_speed(row) for row in rows)

    def cells(self, formats: list[str], unit: str, view: View) -> list[str]:
        name = f"*{self.technique}* (library)" if self.library else self.technique
        return [name, self.size, *(_cell(self.rows.get(f), unit, view) for f in formats)]


def _steps_of(rows: list[Row]) -> list[_Step]:
    """The lines of a ladder: slowest first, libraries last."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.technique, size_text(row.shape)), []).append(row)
    steps = [_Step(group) for group in groups.values()]
    return sorted(steps, key=lambda s: (s.library, s.speed, s.technique, s.size))


def _absent(rows: list[Row], steps: list[_Step]) -> str:
    """A note on the techniques without a line, with the reasons that do not just name a format."""
    shown = {step.technique for step in steps}
    common = {row.reason for row in rows if row.technique in shown}
    notes = []
    for name in sorted({row.technique for row in rows} - shown):
        reasons = {row.reason for row in rows if row.technique == name}
        notes.append(f"`{name}` was skipped: {markdown('; '.join(sorted(reasons - common or reasons)))}.")
    return " ".join(notes)


def states_note(rows: Iterable[Row]) -> str:
    """The sentence of a caption on verified rows in different power states, whose clocks differ; empty if there are none."""
    states = differ(row.power_state for row in rows if row.drawable)
    return f"{capital(markdown(states))}." if states else ""


def _small_sizes(view: View, op: str, unit: str, link: str) -> str:
    """The table of the sizes that were measured cold: the rate of a cold launch, and after it the steady one."""
    of_unit, scale = UNITS[unit]
    rates: dict[tuple[str, str, str], dict[str, str]] = {}
    rows = [row for row in view.selected if row.op == op and row.drawable]
    for row in sorted(rows, key=lambda r: (r.bytes, r.technique)):
        of_size = rates.setdefault((size_text(row.shape), row.technique, row.format), {})
        of_size[row.regime] = digits(getattr(row, of_unit) / scale)
    table = [[*key, both["cold"], both.get("steady", "–")] for key, both in rates.items() if "cold" in both]
    if not table:
        return captioned("", f"No cold launch of {op} was measured in the newest published run.", f"It is {provenance(view, link)}.")
    early = sorted({row.technique for row in rows if row.early})
    overlap = f"Steady launches of {', '.join(f'`{name}`' for name in early)} may overlap." if early else ""
    header = ["size", "technique", "format", "cold", "steady"]
    return captioned(markdown_table(header, table), f"The cells show {unit}.", overlap, states_note(rows), f"The rates come from the run {provenance(view, link)}.")


def operation_table(view: View, name: str, link: str) -> str:
    """The table that a marker names: OPERATION UNIT or, of its small sizes, OPERATION UNIT cold."""
    op, unit, regime = (name.split() + ["", ""])[:3]
    if unit not in UNITS:
        raise ResultsError(f"unknown unit {unit!r}; allowed: {', '.join(UNITS)}")
    if not any(row.op == op for row in view.selected):
        known = ordered({row.op for row in view.selected}, OPERATIONS)
        raise ResultsError(f"no rows of operation {op!r}; there are {', '.join(known)}")
    if regime not in ("", "cold"):
        raise ResultsError(f"unknown regime {regime!r}; allowed: cold, or none for the ladder")
    return _small_sizes(view, op, unit, link) if regime else _ladder(view, op, unit, link)


def shares_table(view: View, link: str) -> str:
    """The fastest row of each operation and format in GB/s with its share of the measured roof, the largest share first.

    Rows without a share, such as unit_products, are left out.
    """
    shared = [row for row in view.points if row.fraction_of_measured_roof is not None]
    best = {(row.op, row.format): row for row in sorted(shared, key=_speed)}
    rows = sorted(best.values(), key=lambda row: (-row.fraction_of_measured_roof, row.op, row.format))
    table = [[row.op, row.technique, row.format, shape_text(row.shape), _cell(row, "GB/s", view)] for row in rows]
    return captioned(
        markdown_table(["operation", "technique", "format", "shape", "GB/s (share of the roof)"], table),
        "Each operation has its fastest row.",
        RAISED_NOTE if any(RAISED in row[-1] for row in table) else "",
        MOVED_NOTE if any(UNSETTLED in row[-1] for row in table) else "",
        states_note(rows),
        f"The rates come from the run {provenance(view, link)}.",
    )


def _ladder(view: View, op: str, unit: str, link: str) -> str:
    """The table of an operation: one line per technique, one column per format."""
    rows = [row for row in view.selected if row.op == op and row.regime == "steady"]
    formats = ordered({row.format for row in rows}, ORDER)
    steps = _steps_of([row for row in _largest(rows).values() if row.status != "skipped"])
    names = [name.replace("xfp8", " x fp8") for name in formats]  # the header of a mixed pair may be wrapped
    table = markdown_table(["technique", "size", *names], [step.cells(formats, unit, view) for step in steps])
    return captioned(
        table,
        f"The cells show {unit} and, in brackets, percent of the measured roof.",
        "Each technique has one line, at its largest size in the regime `steady`.",
        "A dash marks a format that the technique does not serve." if "| – |" in table else "",
        RAISED_NOTE if RAISED in table else "",
        MOVED_NOTE if UNSETTLED in table else "",
        _absent(rows, steps),
        states_note(_largest(rows).values()),
        f"The rates come from the run {provenance(view, link)}.",
    )
