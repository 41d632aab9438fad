"""Tables as text: CSV, Markdown, and Prometheus's text format."""

import csv
import io
from typing import Any, Iterable, Iterator

from ridgebench.export.table import columns
from ridgebench.text import csv_cell, markdown, prometheus_label

Rows = list[dict[str, Any]]

# What a page has room for; CSV and Parquet have every column.
MARKDOWN = ("op", "technique", "format", "shape", "regime", "device", "origin", "status", "time_median_s",
            "flops_per_s", "bytes_per_s", "fraction_of_measured_roof", "mfu")

# Metric: its column and its help. Units are Prometheus's base units; a row without the value has no sample.
METRICS = {
    "ridgebench_time_seconds": ("time_median_s", "Median time of a launch."),
    "ridgebench_flops_per_second": ("flops_per_s", "FLOP per second by the median time."),
    "ridgebench_bytes_per_second": ("bytes_per_s", "Compulsory bytes per second by the median time."),
    "ridgebench_roof_ratio": ("fraction_of_measured_roof", "Share of what the measured ceilings allow."),
    "ridgebench_mfu_ratio": ("mfu", "Share of the dense peak of the data sheet."),
}
LABELS = ("run", "id", "op", "technique", "format", "shape", "regime", "device", "model", "role", "origin", "status")


def csv_table(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    """A table with commas, whose texts no spreadsheet evaluates."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([csv_cell(value) for value in line] for line in (head, *lines))
    return out.getvalue()


def to_csv(rows: Rows) -> str:
    names = list(columns())
    return csv_table(names, ([row[name] for name in names] for row in rows))


def markdown_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return markdown(str(value))


def to_markdown(rows: Rows) -> str:
    lines = [MARKDOWN, ["---"] * len(MARKDOWN), *([markdown_cell(row[name]) for name in MARKDOWN] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def samples(rows: Rows, column: str) -> Iterator[str]:
    for row in rows:
        if row[column] is not None:
            labels = ",".join(f'{name}="{prometheus_label(row[name])}"' for name in LABELS)
            yield f"{{{labels}}} {row[column]!r}"


def to_prometheus(rows: Rows) -> str:
    """The text format of prometheus.io, "Exposition formats": for the node exporter's textfile collector."""
    lines = []
    for metric, (column, what) in METRICS.items():
        found = [metric + sample for sample in samples(rows, column)]
        lines += [f"# HELP {metric} {what}", f"# TYPE {metric} gauge", *found] if found else []
    lines += ["# HELP ridgebench_row_ok Whether the row was measured and verified.", "# TYPE ridgebench_row_ok gauge"]
    states = [{**row, "ok": int(row["status"] == "ok")} for row in rows]
    lines += ["ridgebench_row_ok" + sample for sample in samples(states, "ok")]
    return "\n".join(lines) + "\n"
