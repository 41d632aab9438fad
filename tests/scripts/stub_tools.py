"""A checkout with nothing in it but scripts, on a machine that has the tools a test gives it, and no others."""

import shutil
import stat
import subprocess
from pathlib import Path

from golden import ROOT

SYSTEM = "bash cat cp dirname env find head ln mktemp nproc readlink rm mkdir sed sort tail tee timeout touch true".split()
# What a script finds at a fixed place of the machine, and so on the machine of the test.
PLACES = ("/usr/local/cuda", "/usr/bin/python3", "/dev/nvidia", "/usr/include")

# Writes its arguments to the log, and what a test adds.
TOOL = '#!/bin/sh\necho "{name} $*" >>{log}\n{script}\n'
GCC = '[ "$1" != -dumpfullversion ] || echo {version}'
CLANG = '[ "$1" != --version ] || echo "Debian clang version {version}"'
# `cmake --build FOLDER` makes a program there.
CMAKE = """
case $1 in
  --version) echo "cmake version {version}" ;;
  --preset) mkdir -p build/$2; echo "CXX=$CXX" >>{log} ;;
  --build) mkdir -p "$2"; cp {program} "$2/ridgebench" ;;
esac
"""
# `ridgebench run` measures a row, and ends with the exit code 3, which is not usual. `list` says that it serves the processor.
PROGRAM = """#!/bin/sh
[ "$1" != list ] || exit 0
echo "measured: $*" >>{log}
mkdir -p results/local/1 && ln -sfn 1 results/local/latest && echo '{{}}' >results/local/1/records.jsonl
exit 3
"""
# Has the packages that the file next to it names; `venv` copies it, and `pip` adds what the file of an index names.
PYTHON = """
has=$(cat "$0.has")
has_all() {{ for name; do case " $has " in *" $name "*) ;; *) return 1 ;; esac; done; }}
case "$1 $2" in
  "-c "*get_path*) mkdir -p .venv/site; echo .venv/site ;;
  "-c "*) shift 2; has_all python "$@" ;;
  "-m venv")
    case "$*" in *--without-pip*) ;; *) exit 1 ;; esac
    mkdir -p .venv/bin && cp "$0" .venv/bin/python && echo "$has" >.venv/bin/python.has ;;
  "-m ensurepip") has_all ensurepip || exit 1; echo "$has pip" >"$0.has" ;;
  "-m pip")
    [ -e {index} ] || {{ echo "WARNING: retrying" >&2; echo "ERROR: no network" >&2; exit 1; }}
    echo "$has $(cat {index})" >"$0.has" ;;
  *"/launch.py ") [ "$3" != plot ] || {{ mkdir -p "$4/figures" && echo png >"$4/figures/lecture.png"; }} ;;
esac
"""
DRAWS = "python venv ensurepip tomllib numpy scipy matplotlib fastjsonschema"


class Machine:
    """Tools in `bin`; `log` has a line for each call of one that a test added."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tools, self.log = folder, folder / "bin", folder / "log"
        self.root = folder / "ein Projekt für mich"
        self.tools.mkdir()
        self.log.touch()
        for name in SYSTEM:
            (self.tools / name).symlink_to(shutil.which(name))
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        for script in (self.root / "scripts").glob("*.sh"):
            text = script.read_text("utf-8")
            for place in PLACES:
                text = text.replace(place, f"{folder}{place}")
            script.write_text(text, "utf-8")
        (self.root / "CMakeLists.txt").touch()
        self.add_file(folder / "program", PROGRAM.format(log=self.log))

    def add_file(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def add(self, name: str, script: str = "") -> None:
        """A tool on the PATH, or at a path below the machine's root."""
        path = self.folder / name if "/" in name else self.tools / name
        self.add_file(path, TOOL.format(name=path.name, log=self.log, script=script))

    def add_python(self, name: str = "python3", packages: str = DRAWS) -> None:
        self.add(name, PYTHON.format(index=self.folder / "index"))
        path = self.folder / name if "/" in name else self.tools / name
        Path(f"{path}.has").write_text(packages)

    def add_cmake(self, version: str = "3.25.1") -> None:
        self.add("cmake", CMAKE.format(version=version, log=self.log, program=self.folder / "program"))

    def add_compilers(self) -> None:
        self.add("g++", GCC.format(version="12.2.0"))
        self.add_cmake()
        self.add("ninja")

    def begin(self, script: str, *arguments: str, **variables: str) -> subprocess.Popen:
        """Starts a script with this machine's tools, and with no variables of the test's machine but HOME."""
        environment = {"PATH": str(self.tools), "HOME": str(self.folder), "LC_ALL": "C.UTF-8"} | variables
        command = [self.root / "scripts" / script, *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        return subprocess.Popen(command, cwd=self.root, env=environment, **pipes)

    def call(self, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        """Runs a script to its end."""
        process = self.begin(script, *arguments, **variables)
        stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def calls(self, name: str) -> list[str]:
        """The lines of the log that begin with `name`."""
        return [line for line in self.log.read_text("utf-8").splitlines() if line.startswith(name)]
