"""Tables as CSV and Markdown, and results in Prometheus's text format."""

from typing import Any, Iterable, Optional, Sequence

from ridgebench.base.printers import csv_table, markdown_table, prometheus
from ridgebench.base.text import markdown

from .table import Table

_Rows = list[dict[str, Any]]

# Metric: its column and its help. Units are Prometheus's base units; a row without the value has no sample.
_METRICS = {
    "ridgebench_time_seconds": ("time_median_s", "Median time of a launch."),
    "ridgebench_flops_per_second": ("flops_per_s", "FLOP per second by the median time."),
    "ridgebench_bytes_per_second": ("bytes_per_s", "Compulsory bytes per second by the median time."),
    "ridgebench_roof_ratio": ("fraction_of_measured_roof", "Share of what the measured ceilings allow."),
    "ridgebench_mfu_ratio": ("mfu", "Share of the dense peak of the data sheet."),
}
_STEP_METRICS = {
    "ridgebench_step_time_seconds": ("time_s", "Median time of a step."),
    "ridgebench_step_peak_bytes": ("peak_bytes", "Most bytes that lived at once in a step."),
    "ridgebench_step_mfu_ratio": ("mfu", "Share of the dense peak of the data sheet, by the FLOPs of the model."),
    "ridgebench_step_tokens_per_second": ("tokens_per_s", "Tokens per second of the layers that a decode step computes."),
}
_PART_METRICS = {
    "ridgebench_step_part_time_seconds": ("time_s", "Time of a part of a step, measured by itself."),
    "ridgebench_step_part_roof_seconds": ("roof_s", "Least time of a part of a step by the measured roofs."),
}
_STEP_LABELS = ("run", "id", "step", "format", "device", "device_model", "status")
_PART_LABELS = (*_STEP_LABELS, "part", "phase", "operation", "technique")
_LABELS = ("run", "id", "op", "technique", "format", "shape", "regime", "device", "model", "role", "origin", "status")


def to_csv(table: Table) -> str:
    names = list(table.columns)
    return csv_table(names, ([row[name] for name in names] for row in table.rows))


def _markdown_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return markdown(str(value))


def to_markdown(table: Table) -> str:
    return markdown_table(table.main, ([_markdown_cell(row[name]) for name in table.main] for row in table.rows)) + "\n"


def _gauge(name: str, what: str, values: Iterable[tuple[dict[str, Any], Optional[float]]], names: Sequence[str]) -> str:
    labelled = (({label: row[label] for label in names}, value) for row, value in values)
    return prometheus(name, what, labelled, show=repr)


def _gauges(metrics: dict[str, tuple[str, str]], rows: _Rows, names: Sequence[str]) -> str:
    return "".join(_gauge(name, what, ((row, row[column]) for row in rows), names) for name, (column, what) in metrics.items())


def _well(name: str, what: str, rows: _Rows, names: Sequence[str]) -> str:
    return _gauge(name, what, ((row, int(row["status"] == "ok")) for row in rows), names)


def to_prometheus(rows: _Rows) -> str:
    """The rows of runs, for the node exporter's textfile collector."""
    well = _well("ridgebench_row_ok", "Whether the row was measured and verified.", rows, _LABELS)
    return _gauges(_METRICS, rows, _LABELS) + well


def steps_to_prometheus(steps: _Rows, parts: _Rows) -> str:
    """The same of steps and of their parts."""
    well = _well("ridgebench_step_ok", "Whether the step was measured and verified.", steps, _STEP_LABELS)
    return _gauges(_STEP_METRICS, steps, _STEP_LABELS) + well + _gauges(_PART_METRICS, parts, _PART_LABELS)
