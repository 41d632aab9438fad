"""A node of simulated GPUs, and what `run --concurrent` and `soak --concurrent` make of it."""

import json
import re
import subprocess
from pathlib import Path

from command_line import BINARY, OK, environment, ridgebench, schema, strict_json

PASSES = ("isolated", "loaded")
ROWS = ("--filter", "^(relu/naive|dot/naive)/fp32/")
EIGHT = [f"seed={seed}" for seed in range(1, 9)]


def processes_of(folder):
    """The processes of this machine whose command line names the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if str(folder).encode() in path.read_bytes() else []
        except OSError:  # it ended meanwhile
            pass
    return found


class Node:
    """A node whose GPUs are simulated by these texts."""

    command = "run"

    def __init__(self, folder, texts, name=None):
        self.folder = folder / "node"
        gpus = folder / "gpus.json"
        gpus.write_text(json.dumps({name or "*": texts}))
        self.variables = environment(RIDGEBENCH_SIMULATED_GPUS=str(gpus), OMP_NUM_THREADS="1")
        if name:
            self.variables["SLURMD_NODENAME"] = name

    def words(self, *more):
        return [self.command, "--concurrent", "--out", str(self.folder), *(more or (*ROWS, "--budget", "4"))]

    def run(self, *more):
        return ridgebench(*self.words(*more), env=self.variables)

    def resume(self, *more):
        return ridgebench("run", "--concurrent", "--resume", self.folder, *more, env=self.variables)

    def start(self, *more):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([BINARY, *self.words(*more)], env=self.variables, **pipes)

    def read(self):
        """node.json, which obeys its schema at all times."""
        found = strict_json((self.folder / "node.json").read_text())
        assert [error.message for error in schema("node").iter_errors(found)] == []
        return found

    def states(self, which):
        return [gpu["passes"][which]["state"] for gpu in self.read()["gpus"]]

    def check_sound(self, gpus):
        for which in PASSES:
            for gpu in gpus:
                folder = self.folder / which / f"sim-{gpu}"
                assert ridgebench("verify", folder).returncode == OK, folder


def states_of(table):
    """The states of GPUs in the first table."""
    return re.findall(r"^sim:\d  (\S+(?: > 6 %)?)(?: |$)", table, re.MULTILINE)
