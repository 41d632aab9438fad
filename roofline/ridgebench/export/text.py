"""Records as CSV, Markdown, and Prometheus's text format."""

from typing import Any, Iterable, Optional

from ridgebench.export.table import columns
from ridgebench.printers import csv_table, markdown_table, prometheus
from ridgebench.text import markdown

_Rows = list[dict[str, Any]]

# Columns of a page; CSV and Parquet have all columns.
_MARKDOWN = ("op", "technique", "format", "shape", "regime", "device", "origin", "status", "time_median_s",
             "flops_per_s", "bytes_per_s", "fraction_of_measured_roof", "mfu")

# Metric: its column and its help. Units are Prometheus's base units; a row without the value has no sample.
_METRICS = {
    "ridgebench_time_seconds": ("time_median_s", "Median time of a launch."),
    "ridgebench_flops_per_second": ("flops_per_s", "FLOP per second by the median time."),
    "ridgebench_bytes_per_second": ("bytes_per_s", "Compulsory bytes per second by the median time."),
    "ridgebench_roof_ratio": ("fraction_of_measured_roof", "Share of what the measured ceilings allow."),
    "ridgebench_mfu_ratio": ("mfu", "Share of the dense peak of the data sheet."),
}
_LABELS = ("run", "id", "op", "technique", "format", "shape", "regime", "device", "model", "role", "origin", "status")


def to_csv(rows: _Rows) -> str:
    names = list(columns())
    return csv_table(names, ([row[name] for name in names] for row in rows))


def _markdown_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return markdown(str(value))


def to_markdown(rows: _Rows) -> str:
    return markdown_table(_MARKDOWN, ([_markdown_cell(row[name]) for name in _MARKDOWN] for row in rows)) + "\n"


def _gauge(name: str, what: str, values: Iterable[tuple[dict[str, Any], Optional[float]]]) -> str:
    labelled = (({label: row[label] for label in _LABELS}, value) for row, value in values)
    return prometheus(name, what, labelled, show=repr)


def to_prometheus(rows: _Rows) -> str:
    """For the node exporter's textfile collector."""
    metrics = [_gauge(name, what, ((row, row[column]) for row in rows)) for name, (column, what) in _METRICS.items()]
    well = _gauge("ridgebench_row_ok", "Whether the row was measured and verified.", ((row, int(row["status"] == "ok")) for row in rows))
    return "".join([*metrics, well])
