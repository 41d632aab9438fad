"""Rows that a test changed or made up, judged again by the program as those of a results folder are."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from golden import GOLDEN, read_records, write_records

from ridgebench.data.judged import judged
from ridgebench.data.records import KEYS, OPTIONAL_KEYS, Row, Run
from ridgebench.data.view import View

TIMES = [key for key in KEYS if key.startswith("time_")]
WHOLE = read_records(GOLDEN)[0]  # a record with every key


def record_of(row: Row) -> dict:
    """The record of a row, whose times follow from its rates. Only a verified or foreign row has a time."""
    record = WHOLE | {key: getattr(row, key) for key in KEYS}
    record |= {key: value for key in OPTIONAL_KEYS if (value := getattr(row, key)) is not None}
    record |= {"clocks_hz": [], "launches_per_sample": 1, "samples_per_batch": 1}
    if row.burst is None:
        record.pop("burst", None)
    if row.status not in ("ok", "unverified"):
        return record | dict.fromkeys([*TIMES, "time_min_s", "time_p90_s", "flops_per_s", "bytes_per_s"]) | {"samples_s": []}
    sides = [(row.flops, row.flops_per_s), (row.bytes, row.bytes_per_s)]
    sides = sides[::-1] if row.saturates in ("memory", "cache") else sides
    seconds = next((work / rate for work, rate in sides if work and rate), row.time_median_s)
    record |= {key: record[key] * seconds / row.time_median_s for key in TIMES if record[key]}
    return record | {"time_min_s": record["time_p10_s"], "samples_s": [seconds]}


def judged_again(view: View) -> View:
    """The view with the judgement that the program makes of its rows and its environment."""
    with tempfile.TemporaryDirectory(prefix="ridgebench-judged-") as name:
        folder = Path(name)
        write_records(folder, list(map(record_of, view.rows)))
        (folder / "environment.json").write_text(json.dumps(view.environment | {"devices": [view.device]}))
        if view.torn:
            with open(folder / "records.jsonl", "a") as file:
                file.write('{"schema": ')
        run = judged(Run(folder, view.environment, view.rows, view.torn))
    return replace(view, rows=run.rows, judgement=run.judgement)
