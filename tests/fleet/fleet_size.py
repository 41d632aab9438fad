"""Prints how long `fleet collect` and `fleet report` take for a large fleet, and how much memory all their processes have.

    PYTHONPATH=roofline python3 tests/fleet/fleet_size.py FOLDER [GPUS]      # default: 10,000 GPUs; about 2 GB in FOLDER
"""

import subprocess
import sys
import time
from pathlib import Path

from synthetic_fleet import healthy, write_fleet


def tree_of(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it ended meanwhile
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def memory_of(processes: list[int]) -> int:
    """Bytes of main memory; what processes share counts once (proportional set size)."""
    total = 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        except (OSError, IndexError):
            pass
    return total


def measure(*words: str) -> None:
    start, peak = time.monotonic(), 0
    with subprocess.Popen([sys.executable, "-m", "ridgebench", "fleet", *words], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory_of(tree_of(process.pid)))
            time.sleep(0.2)
    print(f"fleet {words[0]}: {time.monotonic() - start:.1f} s, {peak / 2**20:.0f} MiB, exit code {process.returncode}", flush=True)


def main() -> None:
    folder, gpus = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    if not folder.exists():
        write_fleet(folder, nodes=gpus // 8, factor=healthy(0.005))
    measure("collect", str(folder))
    measure("report", str(folder))


if __name__ == "__main__":
    main()
