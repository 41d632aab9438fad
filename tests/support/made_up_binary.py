"""A program that answers as `ridgebench run` does, with rows and times that a test makes up."""

import json
import sys
from pathlib import Path
from typing import Callable, Optional

import numpy as np
from golden import GOLDEN, read_environment
from synthetic_session import record

PROCESSES = 42  # of one arm in a whole session, with the one that does not count
SCRIPT = """#!{python} -IS
import json, os, re, signal, sys
here = {here!r}
arguments = sys.argv[1:]
if "--help" in arguments:
    sys.exit()
calls = json.load(open(here + "/calls.json"))
named = arguments[arguments.index("--filter") + 1] if "--filter" in arguments else ""
if "--dry-run" in arguments:
    sys.exit(0 if any(re.search(named, row["id"]) for row in calls[0]) else 2)
count = len(os.listdir(here + "/count"))
open(here + "/count/" + str(count), "w").close()
rows = [row for row in calls[count] if re.search(named, row["id"])]
if not rows:
    print("no case matches the filter", file=sys.stderr)
    sys.exit(2)
out = arguments[arguments.index("--out") + 1]
os.makedirs(out)
with open(here + "/environment.json") as file, open(out + "/environment.json", "w") as copy:
    json.dump(json.load(file) | {{"run_id": here + str(count)}}, copy)
with open(out + "/records.jsonl", "w") as file:
    for row in rows:
        if row["status"] == "dies":
            file.flush()
            os.kill(os.getpid(), signal.SIGSEGV)
        if row["status"] == "hangs":
            file.flush()
            signal.pause()
        file.write(json.dumps(row) + "\\n")
sys.exit(6 if any(row["status"] in ("failed", "wrong") for row in rows) else 0)
"""


def times(seconds: float = 1e-3, spread: float = 0.0, seed: int = 1) -> list[float]:
    """The medians of a row in one process after the other."""
    return (seconds * np.exp(np.random.default_rng(seed).normal(0, spread, PROCESSES))).tolist()


def make_binary(folder: Path, rows: dict[str, list[float]],
                edit: Optional[Callable[[int, dict], None]] = None) -> Path:
    """A program whose rows take these times; `edit(process, record)` may change a record, processes count from 0."""
    (folder / "count").mkdir(parents=True)
    calls = []
    for process in range(PROCESSES):
        records = [record(name, seconds[process]) for name, seconds in rows.items()]
        for one in records if edit else []:
            edit(process, one)
        calls.append(records)
    (folder / "calls.json").write_text(json.dumps(calls))
    environment = read_environment(GOLDEN) | {"duration_s": 30.0}
    (folder / "environment.json").write_text(json.dumps(environment))
    script = folder / "ridgebench"
    script.write_text(SCRIPT.format(python=sys.executable, here=str(folder)))
    script.chmod(0o755)
    return script


def processes(binary: Path) -> int:
    """How many processes measured so far."""
    return len(list((binary.parent / "count").iterdir()))
