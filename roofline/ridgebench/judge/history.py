"""The history of a gate: a file that grows by a line per row and run."""

import datetime
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import ResultsError, decoded, lines_of, malformed, naming, parse_json
from ridgebench.base.text import clean

from .report import Comparison, Report

SCHEMA = "urn:ridgebench:history:1"
_SCHEMAS = (SCHEMA, "ridgebench.history/1")  # the latter in older files
_LONGEST_LINE = 1 << 20  # bytes
_COMMIT = 12  # characters of a commit


@dataclass(frozen=True)
class Entry:
    """Result of a run for a row. value: the candidate's, in seconds or, with a metric, in its unit; None: missing."""

    time: datetime.datetime
    label: Optional[str]
    row: str
    verdict: str
    metric: Optional[str]
    value: Optional[float]


def _line(row: Comparison, report: Report, when: str, label: Optional[str]) -> dict[str, Any]:
    timed = row.candidate_value is None  # in seconds
    value, baseline = (
        (row.candidate_s, row.baseline_s) if timed else (row.candidate_value, row.baseline_value)
    )
    told = {"schema": SCHEMA, "time": when, "label": label, "row": row.id, "verdict": row.verdict}
    told |= {"metric": None if timed else report.metric, "value": value, "baseline_value": baseline}
    return told | {"change": row.change, "low": row.low, "high": row.high, "pairs": row.pairs}


def _is_torn(path: Path) -> bool:
    """True if the last line of a file lacks its end."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def label_of(label: Optional[str]) -> Optional[str]:
    """The label of a run, or the commit that GitHub names."""
    return label or os.environ.get("GITHUB_SHA", "")[:_COMMIT] or None


def append(path: Path, report: Report, label: Optional[str]) -> None:
    """Adds the rows of a report. Without a label it is the commit that GitHub names."""
    when = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    label = label_of(label)
    lines = [json.dumps(_line(row, report, when, label)) for row in report.rows]
    with naming(path):
        before = "\n" if _is_torn(path) else ""
        with path.open("a", encoding="utf-8") as file:
            file.write(before + "".join(f"{one}\n" for one in lines))


def require_history(path: Optional[Path]) -> None:
    """Raises ResultsError if the first line of an existing file is not a line of a history: nothing is added to others."""
    if path is None or not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
    try:
        known = json.loads(first)["schema"] in _SCHEMAS
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise ResultsError(f"{path}: no history of the gate; allowed: such a file, or a new one")


def _entry(told: Any) -> Entry:
    """Raises KeyError, TypeError or ValueError for what append() does not write."""
    if told["schema"] not in _SCHEMAS:
        raise ValueError(f"schema is not {SCHEMA}")
    time = datetime.datetime.fromisoformat(told["time"].replace("Z", "+00:00"))
    value = told["value"]
    if value is not None and not (type(value) in (int, float) and 0 < value < math.inf):
        raise ValueError("value is not a number above 0")
    texts = {key: told[key] for key in ("label", "row", "verdict", "metric")}
    for key, text in texts.items():
        if not isinstance(text, str) and (text is not None or key in ("row", "verdict")):
            raise ValueError(f"{key} is not a text")
    return Entry(time.astimezone(datetime.timezone.utc), value=value, **clean(texts))


def read_history(path: Path) -> list[Entry]:
    """All entries in the order of the file. Raises ResultsError, which names the line."""
    entries = []
    for origin, text in lines_of(path, "a history of the gate"):
        told = parse_json(decoded(text, origin), origin)
        try:
            entries.append(_entry(told))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise malformed(origin, error, "not a line of a history") from None
    if not entries:
        raise ResultsError(f"{path}: holds no row")
    return entries
