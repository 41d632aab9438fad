"""Writes the folder of a fleet without a GPU: the records of a published run of an H200, each with a factor on its time.

The samples of a record are those of the published run, so that the files have the size of real ones.
"""

import json
import random
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "results" / "nvidia-h200" / "partial" / "2026-11-27-6abf65e-quick"
PLANNED = datetime(2026, 11, 27, 12, tzinfo=timezone.utc)
PASSES = ("isolated", "loaded")
TIMES = ("time_median_s", "time_ci_low_s", "time_ci_high_s", "time_min_s", "time_p10_s", "time_p90_s", "time_mean_s",
         "cycles_median", "cycles_ci_low", "cycles_ci_high")  # fmt: skip
RATES = ("flops_per_s", "bytes_per_s")
Factor = Callable[[str, int, str, str], float]  # of node, GPU, pass, row


def text_of(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def template(rows: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """environment.json and this number of records that are ok."""
    environment = json.loads((RUN / "environment.json").read_text("utf-8"))
    records = map(json.loads, (RUN / "records.jsonl").read_text("utf-8").splitlines())
    return environment, [record for record in records if record["status"] == "ok" and record["role"] != "control"][:rows]


def record_text(record: dict[str, Any], device: str, factor: float) -> str:
    changed = {key: record[key] * factor for key in TIMES if record.get(key) is not None}
    changed |= {key: record[key] / factor for key in RATES if record.get(key) is not None}
    return json.dumps(record | changed | {"device": device, "id": f"{record['id'].rpartition('@')[0]}@{device}"}) + "\n"


def uuid_of(node: str, index: int) -> str:
    return f"{random.Random(f'{node} {index}').getrandbits(64):016x}"


def write_results(folder: Path, node: str, index: int, started: datetime, factor: Callable[[str], float], rows: int = 12,
                  **device: Any) -> None:  # fmt: skip
    """A results folder of one GPU; `device` replaces keys of its entry in environment.json."""
    environment, records = template(rows)
    name = f"cuda:{index}"
    entry = environment["devices"][0] | {"name": name, "uuid_hash": uuid_of(node, index)} | device
    changed = {"run_id": f"{random.Random(f'{folder} {started}').getrandbits(128):032x}", "device": name, "devices": [entry],
               "started": text_of(started), "ended": text_of(started + timedelta(seconds=3)), "interrupted": False}  # fmt: skip
    changed["host"] = environment["host"] | {"hostname_hash": f"{random.Random(node).getrandbits(64):016x}"}
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps(environment | changed, indent=2), "utf-8")
    texts = [record_text(record, name, factor(record["id"].rpartition("@")[0])) for record in records]
    (folder / "records.jsonl").write_text("".join(texts), "utf-8")


def write_node(folder: Path, node: str, gpus: int = 8, factor: Factor = lambda *_: 1.0, rows: int = 12,
               started: datetime = PLANNED + timedelta(minutes=1), **device: Any) -> dict[str, Any]:  # fmt: skip
    """The folder of an attempt on a node, with node.json, which it returns, and the record of its job."""
    times = {"started": text_of(started), "ended": text_of(started + timedelta(seconds=60))}
    entries = []
    for index in range(gpus):
        passes = {}
        for name in PASSES:
            where = f"{name}/cuda-{index}"
            write_results(folder / where, node, index, started, lambda row, name=name, index=index: factor(node, index, name, row),
                          rows, **device)  # fmt: skip
            passes[name] = {"folder": where, "state": "done", "exit": 0, "reason": None, **times}
        entries.append({"device": f"cuda:{index}", "index": index, "uuid_hash": uuid_of(node, index), "model": "NVIDIA H200",
                        "pci_address": f"0000:{index:02x}:00.0", "passes": passes})  # fmt: skip
    value = {"schema": "ridgebench.node/1", "node": node, "hostname_hash": f"{random.Random(node).getrandbits(64):016x}",
             "version": "0.2.0", "command_line": ["ridgebench", "run", "--concurrent"], **times, "exit": 0, "budget_s": 50,
             "gpus": entries}  # fmt: skip
    (folder / "node.json").write_text(json.dumps(value), "utf-8")
    write_job(folder, node, started, 0)
    return value


def write_job(folder: Path, node: str, started: datetime = PLANNED + timedelta(minutes=1), code: Any = None) -> None:
    """The record of the job; without an exit code that of a job that has not ended."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    ended = None if code is None else text_of(started + timedelta(seconds=61))
    value = {"schema": "ridgebench.fleet_job/1", "node": node, "job": "17", "started": text_of(started), "ended": ended, "exit": code}
    folder.with_name(f"{folder.name}.job.json").write_text(json.dumps(value), "utf-8")


def write_manifest(folder: Path, counts: dict[str, int], /, **keys: Any) -> None:
    value = {"schema": "ridgebench.fleet_manifest/1", "nodes": [{"node": node, "gpus": gpus} for node, gpus in counts.items()],
             "planned": text_of(PLANNED), "order": list(counts), "suite": "quick", "command": ["--budget", "50"], "limit_s": 90.0}  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(value | keys), "utf-8")


def write_fleet(folder: Path, nodes: int = 4, gpus: int = 8, factor: Factor = lambda *_: 1.0, rows: int = 12) -> list[str]:
    """A fleet in which all is well but for the factors of the times; returns the nodes' names."""
    names = [f"gn{number}" for number in range(1, nodes + 1)]
    write_manifest(folder, dict.fromkeys(names, gpus))
    for name in names:
        write_node(folder / "nodes" / name / "attempt-1", name, gpus, factor, rows)
    return names


def healthy(spread: float, seed: int = 1) -> Factor:
    """Factors of a healthy fleet: log-normal, drawn for each GPU, pass and row."""
    return lambda *key: random.Random(f"{seed} {key}").lognormvariate(0, spread)
