"""Markdown tables over several published runs: the steps of an operation, times side by side, the cost of a launch."""

import re
from dataclasses import dataclass
from typing import Callable, Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.printers import markdown_table
from ridgebench.base.text import markdown, page_lines
from ridgebench.base.units import digits, enumerate_words, percent
from ridgebench.data.doubts import UNSETTLED
from ridgebench.data.judged import ABOVE_ROOF
from ridgebench.data.records import Row
from ridgebench.data.view import ORDER, View

from .result_tables import EXCESS, MIXED, MOVED_NOTE, UNITS, provenance, size_text, states_note

_NONE = "–"
_NT = "nt"  # the layout of a linear layer's forward product
_LIBRARY_NOTE = "The library is the fastest one that was measured at the same size."
_DUELS_NOTE = "A share of its rate compares two rows of one run; only a duel decides a difference of a few percent ([duels](duels.md))."
RAISED_NOTE = f"A row that exceeds its measured ceiling by more than {EXCESS} raises the roof of all."
_FAST = "_fast_accum"  # techniques whose fp8 sums stay in the tensor cores; only such ones are compared with each other
_CLOCK_COLUMNS = ("GHz", "of the peak at that clock", "of the library, in cycles")
_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_COLUMNS = ("device", "size", "roof allows", "measured", "of the roof", "of the library", *_CLOCK_COLUMNS)


@dataclass(frozen=True)
class Source:
    """A run's rows and the link from the page to its folder."""

    view: View
    link: str

    @property
    def name(self) -> str:
        """The device in a word or two: 'H100', 'AMD EPYC'."""
        return markdown(re.sub(r"^NVIDIA | \d+GB.*|\(R\)| Processor", "", self.view.device["model"]))


def _caption(text: str, sources: list[Source]) -> str:
    origins = enumerate_words([provenance(source.view, source.link) for source in sources])
    return page_lines(f"{text} The numbers come from {origins}.")


def _share(value: Optional[float]) -> str:
    return _NONE if value is None else f"{percent(value)}\u00a0%"


def _split_formats(words: list[str]) -> tuple[list[str], list[str]]:
    """The names of formats among the words, and the other words. Raises ResultsError where one of the two is empty."""
    formats = [word for word in words if word in ORDER or MIXED in word]
    others = [word for word in words if word not in formats]
    if not formats or not others:
        raise ResultsError(f"a table of {' '.join(words) or 'nothing'!r} needs formats and what to show in them")
    return formats, others


def _fastest(rows: list[Row]) -> Optional[Row]:
    """The row that moves the most bytes and, of those, takes the least time."""
    return min(rows, key=lambda row: (-row.bytes, row.time_median_s), default=None)


def _rows_of(source: Source, op: str, technique: str, format_name: str) -> list[Row]:
    """The verified steady rows of a technique or, where none is named, of all hand-written ones; ceilings count, too.

    A product has the layout that follows the technique, as in `naive/nn`, or nt.
    """
    technique, _, layout = technique.partition("/")
    rows = [row for row in source.view.rows if row.op == op and row.format == format_name]
    rows = [row for row in rows if row.shape.get("layout", "") in ("", layout or _NT)]
    rows = [row for row in rows if row.role != "control" and row.status == "ok" and row.regime == "steady"]
    return [row for row in rows if (row.technique == technique if technique else row.origin == "hand")]


def _cycles(row: Row) -> Optional[float]:
    if row.cycles_median:
        return row.cycles_median
    return row.time_median_s * row.clock_hz if row.clock_hz else None


def _library_rows(row: Row, source: Source) -> list[Row]:
    """The library's rows of the same case. Of fp8 products, those that sum as the row does."""
    case = (row.op, row.format, row.shape, row.technique.endswith(_FAST))
    found = [other for other in source.view.points if other.origin == "library"]
    return [other for other in found if (other.op, other.format, other.shape, other.technique.endswith(_FAST)) == case]


def _of_library(row: Row, source: Source, cost: Callable[[Row], Optional[float]]) -> Optional[float]:
    """The least cost, time or cycles, of the library over that of the row; None if either is unknown."""
    own, others = cost(row), [cost(other) for other in _library_rows(row, source)]
    known = [value for value in others if value]
    return min(known) / own if own and known else None


def _step_cells(row: Optional[Row], source: Source, unit: str) -> dict[str, str]:
    """The cells of a step on one device, by column: what the roof allows, what was measured, and its shares."""
    if row is None:
        return dict.fromkeys(_COLUMNS, _NONE) | {"device": source.name}
    key, scale = UNITS[unit]
    rate, fraction = getattr(row, key), row.fraction_of_measured_roof
    return {
        "device": source.name,
        "size": size_text(row.shape).partition(",")[0],
        "roof allows": digits(rate / fraction / scale) if rate and fraction else _NONE,
        "measured": digits(rate / scale) if rate else _NONE,
        "of the roof": UNSETTLED * bool(fraction and source.view.unsettled(row)) + _share(fraction),
        "of the library": _share(_of_library(row, source, lambda r: r.time_median_s)),
        "GHz": f"{row.clock_hz / 1e9:.2f}" if row.clock_hz else _NONE,
        "of the peak at that clock": _share(row.fraction_of_roof_at_clock),
        "of the library, in cycles": _share(_of_library(row, source, _cycles)),
    }


def _columns_of(rows: list[Row], sources: list[Source]) -> list[str]:
    """The columns that say something: sizes that differ; clocks where arithmetic limits a GPU, whose clock is read."""
    left_out = set() if len({str(row.shape) for row in rows}) > 1 else {"size"}
    gpu = all(source.view.device["backend"] == "cuda" for source in sources)
    if not (gpu and any(row.bound == "compute" for row in rows)):
        left_out |= set(_CLOCK_COLUMNS)
    return [name for name in _COLUMNS if name not in left_out]


def _known_technique(op: str, technique: str, sources: list[Source]) -> bool:
    """True if any of the runs tried the technique."""
    return any((row.op, row.technique) == (op, technique) for source in sources for row in source.view.rows)


def _steps_table(words: list[str], sources: list[Source]) -> str:
    """OPERATION UNIT FORMAT... TECHNIQUE[/LAYOUT]...: the techniques in this order, in the formats and on every device."""
    op, unit = [*words, "", ""][:2]
    if unit not in UNITS:
        raise ResultsError(f"unknown unit {unit!r}; allowed: {', '.join(UNITS)}")
    formats, techniques = _split_formats(words[2:])
    for technique in techniques:
        if not _known_technique(op, technique.partition("/")[0], sources):
            raise ResultsError(f"no row of {op}/{technique} in {', '.join(source.link for source in sources)}")
    steps = [(t, f, s, _fastest(_rows_of(s, op, t, f))) for t in techniques for f in formats for s in sources]
    steps = [step for step in steps if step[3] or any(other[3] for other in steps if other[:2] == step[:2])]
    rows = [row for *_, row in steps if row]
    columns = _columns_of(rows, sources)
    cells = [_step_cells(row, source, unit) for _, _, source, row in steps]
    several = len(formats) > 1
    table = [
        [_name_cell(technique, row), *[name] * several, *(by_name[column] for column in columns)]
        for (technique, name, _, row), by_name in zip(steps, cells)
    ]
    text = f"Rates in {unit}." if several else f"Rates in {unit}, format {formats[0]}."
    text += f" {MOVED_NOTE}" * any(UNSETTLED in by_name["of the roof"] for by_name in cells)
    text += _steps_note(steps, rows) + _missing_note(techniques, {step[0] for step in steps})
    return f"{markdown_table(['step', *['format'] * several, *columns], table)}\n\n{_caption(text, sources)}"


def _steps_note(steps: list, rows: list[Row]) -> str:
    compared = any(_library_rows(row, source) for *_, source, row in steps if row and row.origin != "library")
    above = any(ABOVE_ROOF in row.flags for row in rows)
    shown = {(source.name, one.id): one for *_, source, row in steps if row for one in (row, *_library_rows(row, source))}
    notes = [_LIBRARY_NOTE, *[_DUELS_NOTE] * compared, *[RAISED_NOTE] * above, states_note(shown.values())]
    text = "".join(f" {note}" for note in notes if note)
    return text + (f" {_NONE}: not measured." if len(rows) < len(steps) else "")


def _missing_note(techniques: list[str], measured: set[str]) -> str:
    """The techniques that no run holds in the layout that the marker names."""
    layouts: dict[str, list[str]] = {}
    for name, _, layout in (technique.partition("/") for technique in techniques if technique not in measured):
        if layout:
            layouts.setdefault(layout, []).append(f"`{name}`")
    return "".join(f" No published run holds {enumerate_words(names)} in layout {layout}." for layout, names in layouts.items())


def _name_cell(technique: str, row: Optional[Row]) -> str:
    name, _, layout = technique.partition("/")
    return f"`{name}`" + f" in {layout}" * bool(layout) + " (library)" * bool(row and row.origin == "library")


def _time_text(seconds: float, largest: float) -> str:
    """Four digits, in the unit of the table's largest time."""
    scale, unit = next((pair for pair in _TIME_UNITS if largest >= pair[0]), _TIME_UNITS[-1])
    return f"{seconds / scale:#.4g}\u00a0{unit}"


def _time_cell(row: Optional[Row], largest: float) -> str:
    """The time and, where arithmetic is the limit and the clock is known, the cycles."""
    if row is None:
        return _NONE
    spent = _cycles(row) if row.bound == "compute" and row.device != "cpu" else None
    return _time_text(row.time_median_s, largest) + (f", {spent / 1e6:#.3g}\u00a0Mcycles" if spent else "")


def _times_table(words: list[str], sources: list[Source]) -> str:
    """FORMAT... OPERATION[/TECHNIQUE]...: the time of each, by default of the fastest hand-written technique.

    Two series end with the ratio of their times; one format on two devices, with how many times as fast the second is.
    """
    formats, series = _split_formats(words)
    pairs = [name.partition("/")[::2] for name in series]
    found = {f: [[_fastest(_rows_of(s, op, technique, f)) for op, technique in pairs] for s in sources] for f in formats}
    for at, name in enumerate(series):
        if not any(rows[at] for of_format in found.values() for rows in of_format):
            raise ResultsError(f"no verified row of {name!r} in {', '.join(source.link for source in sources)}")
    times = [row.time_median_s for of_format in found.values() for rows in of_format for row in rows if row]
    table = []
    for name, of_format in found.items():
        for source, rows in zip(sources, of_format):
            table.append([name, source.name, *(_time_cell(row, max(times)) for row in rows), *_ratio(rows)])
    table += _speedup(formats[0], sources, found[formats[0]]) if len(formats) == 1 else []
    header = ["format", "device", *(f"`{name}`" for name in series), *([_quotient(*pairs)] if len(pairs) == 2 else [])]
    states = states_note(row for of_format in found.values() for rows in of_format for row in rows if row)
    return f"{markdown_table(header, table)}\n\n{_caption(' '.join(filter(None, (_times_note(found), states))), sources)}"


def _quotient(first: tuple[str, str], second: tuple[str, str]) -> str:
    """The header of a ratio: 'gelu / relu', or 'vec16 / naive' of one operation."""
    at = 1 if first[0] == second[0] else 0
    return f"{second[at] or second[0]} / {first[at] or first[0]}"


def _ratio(rows: list[Optional[Row]]) -> list[str]:
    """The second of two times over the first; no cell for another number of series."""
    if len(rows) != 2:
        return []
    return [f"{rows[1].time_median_s / rows[0].time_median_s:.2f}" if all(rows) else _NONE]


def _speedup(name: str, sources: list[Source], of_format: list[list[Optional[Row]]]) -> list[list[str]]:
    """A line that says how many times as fast the second of two devices is, for series that both have at one size."""
    if len(sources) != 2 or not any(a and b and a.shape == b.shape for a, b in zip(*of_format)):
        return []
    cells = [f"{a.time_median_s / b.time_median_s:.2f}" if a and b and a.shape == b.shape else _NONE for a, b in zip(*of_format)]
    return [[name, f"{sources[0].name} / {sources[1].name}", *cells, *[""] * (len(cells) == 2)]]


def _times_note(found: dict[str, list[list[Optional[Row]]]]) -> str:
    sizes: dict[str, None] = {}
    for of_format in found.values():
        sizes |= {f"{row.op} {size_text(row.shape)}": None for rows in of_format for row in rows if row}
    return f"Medians. Sizes: {'; '.join(sizes)}."


def _launches_table(sources: list[Source]) -> str:
    """Time of an empty launch on each device, and the bytes that a copy moves in that time."""
    table = []
    for source in sources:
        copies = [row for row in source.view.ceilings if row.saturates == "memory" and row.written_fraction == 0.5]
        for way, key in (("in a stream", "launch_gap_s"), ("in a graph", "graph_gap_s")):
            gap = source.view.device.get(key)
            if gap and copies:
                moved = gap * max(row.bytes_per_s for row in copies)
                table.append([source.name, way, _time_text(gap, 1e-6), f"{digits(moved / 1e6)} MB"])
    if not table:
        raise ResultsError(f"no launch was timed in {', '.join(source.link for source in sources)}")
    text = "The last column is what a copy of large vectors moves in that time."
    return f"{markdown_table(['device', 'launches', 'time of an empty one', 'memory traffic'], table)}\n\n{_caption(text, sources)}"


def table_over_runs(words: list[str], sources: list[Source]) -> str:
    """The table of a marker that begins with steps, times or launches."""
    kind, *rest = words
    if kind == "launches":
        return _launches_table(sources)
    return _steps_table(rest, sources) if kind == "steps" else _times_table(rest, sources)
