"""Sessions of the gate whose times are made up: no process is run."""

import json
import shutil
from pathlib import Path

import numpy as np
from golden import GOLDEN, read_environment, read_records, write_records

RECORD = next(
    record for record in read_records(GOLDEN) if record["status"] == "ok" and record["role"] == "kernel"
)


def retimed(row: dict, samples: list[float], **changes) -> dict:
    """The row with these samples, and with what follows from them."""
    ordered = sorted(samples)
    median = float(np.median(samples))
    times = {"median": median, "ci_low": ordered[0], "ci_high": ordered[-1], "min": ordered[0], "p10": ordered[0]}
    times = {f"time_{name}_s": value for name, value in times.items()} | {"time_p90_s": ordered[-1]}
    rates = {key: row[work] / median for key, work in (("flops_per_s", "flops"), ("bytes_per_s", "bytes")) if row[work]}
    return row | {"samples_s": list(samples)} | times | rates | changes


def record(name: str, seconds: float, **changes) -> dict:
    """A sound row of this id and median time."""
    return retimed(RECORD, [seconds] * 7, id=name, **changes)


UNTIMED = {f"time_{name}_s": None for name in ("median", "ci_low", "ci_high", "min", "p10", "p90")} | {
    "flops_per_s": None, "bytes_per_s": None
}


def write_run(folder: Path, records: list[dict], environment: dict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    told = read_environment(GOLDEN) | environment
    (folder / "environment.json").write_text(json.dumps(told))
    write_records(folder, records)
    return folder


def log_ratios(change: float, rows: int = 1, pairs: int = 20, spread: float = 0.004, seed: int = 1):
    """One column per row."""
    return np.random.default_rng(seed).normal(np.log1p(change), spread, (pairs, rows))


def write_session(folder: Path, ratios: np.ndarray, edit=None, turns="process") -> Path:
    """Pairs whose candidate takes exp(ratio) ms where the baseline takes 1 ms.

    `edit(arm, pair, records, environment)` may change a run before it is written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for pair, row in enumerate(ratios, 1):
        for arm in ("baseline", "candidate"):
            times = np.exp(row) if arm == "candidate" else np.ones(len(row))
            records = [record(f"relu/r{i}@cpu", 1e-3 * float(t)) for i, t in enumerate(times)]
            environment: dict = {"run_id": f"{pair}-{arm}"}
            if edit is not None:
                edit(arm, pair, records, environment)
            write_run(folder / f"{pair:02}-{arm}", records, environment)
    told = {"schema": "ridgebench.session/3", "reader": "ridgebench", "baseline": ["old"], "candidate": ["new"]}
    told |= {"filter": None, "seconds": 1.0, "most_pairs": 40, "pairs": len(ratios), "turns": turns}
    (folder / "session.json").write_text(json.dumps(told))
    return folder
