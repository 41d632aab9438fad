"""Stand-ins for Slurm's commands and for the program, and the commands `fleet` that find them in PATH."""

import shlex
import subprocess
import sys
from pathlib import Path

from command_line import ROOT

SINFO = "gn1|idle|gpu:h100:8(S:0-1)\ngn2|drained|gpu:h100:8\ngn3|mixed|gpu:h100:8\nlogin1|idle|(null)\n"


class Machine:
    """A folder of stand-ins in PATH: what each prints, and with which words it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.stand_in("ridgebench", "exit 0")

    def stand_in(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/bash\nprintf '%q ' \"$@\" >>{self.folder}/{name}.calls\necho >>{self.folder}/{name}.calls\n{body}\n")
        path.chmod(0o755)

    def prints(self, name: str, text: str) -> None:
        (self.folder / f"{name}.out").write_text(text)
        self.stand_in(name, f"cat {self.folder}/{name}.out")

    def calls(self, name: str) -> list[list[str]]:
        path = self.folder / f"{name}.calls"
        return [shlex.split(line) for line in path.read_text().splitlines()] if path.exists() else []

    def fleet(self, *words) -> subprocess.CompletedProcess:
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "roofline"), "HOME": str(self.folder)}
        return subprocess.run([sys.executable, "-m", "ridgebench", "fleet", *map(str, words)], capture_output=True, text=True,
                              check=False, env=environment, cwd=self.folder)  # fmt: skip

    def done(self, *words) -> str:
        result = self.fleet(*words)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    def refused(self, *words) -> str:
        result = self.fleet(*words)
        assert result.returncode == 2 and result.stderr.startswith("fleet: ") and result.stderr.count("\n") == 1, result.stderr
        return result.stderr

    def slurm(self) -> None:
        self.prints("sinfo", SINFO)
        self.prints("squeue", "")
        self.stand_in("sbatch", f"wc -l <{self.folder}/sbatch.calls")  # the number of the job
