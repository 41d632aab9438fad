"""The STREAM-like check of a host: which rows it takes, what it prints, and that stream.c builds and runs."""

import subprocess
from pathlib import Path

from golden import GOLDEN, ROOT, read_records, write_records
from synthetic_session import retimed

COMMAND = (ROOT / "scripts" / "python.sh", "-m", "ridgebench", "stream")
SAMPLE = next(r for r in read_records(GOLDEN) if r["role"] == "ceiling" and r["status"] == "ok")
UNTIMED = [key for key in SAMPLE if key.startswith("time_")] + ["flops_per_s", "bytes_per_s"]
WRONG = dict.fromkeys(UNTIMED) | {"status": "wrong", "reason": "moved"}


def row(op: str, per_s: float = 1e9, **other) -> dict:
    """A ceiling with this bandwidth, in bytes/s."""
    found = {"id": f"{op}/x/fp32/n:1048576/steady@cpu", "op": op, "role": "ceiling", "status": "ok", "device": "cpu",
             "shape": {"n": 1048576}}  # fmt: skip
    return retimed(SAMPLE | found, [SAMPLE["bytes"] / per_s] * 7) | other


def check(folder: Path, *rows: dict) -> subprocess.CompletedProcess:
    write_records(folder, rows)
    return subprocess.run([*COMMAND, folder], capture_output=True, text=True, check=False)


def test_each_dram_ceiling_of_the_host_stands_next_to_stream(tmp_path):
    slower = row("dram_read", per_s=1, id="slower")
    others = [row("fma_peak"), row("dram_copy", role="control", id="control"), row("dram_copy", id="wrong", **WRONG),
              row("dram_copy", device="cuda:0", id="a GPU's")]  # fmt: skip
    done = check(tmp_path, row("dram_read"), slower, row("dram_triad"), *others)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [f"dram_{name}/x/fp32/n:1048576/steady@cpu" for name in ("read", "triad")]
    assert all("   1.00 GB/s, stream.c" in line and "nan" not in line for line in lines)


def test_a_run_without_a_dram_ceiling_is_refused(tmp_path):
    done = check(tmp_path, row("fma_peak"))
    assert done.returncode == 2 and "no DRAM ceiling of a host that is ok" in done.stderr
