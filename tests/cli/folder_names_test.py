"""A folder may have any name: each command reads and writes it, and prints the name in one harmless line."""

import os
import shutil

import pytest
from command_line import OK, ridgebench
from golden import GOLDEN

NAMES = {"no UTF-8": os.fsdecode(b"bad\xff\xfename"), "escape and line": "esc\x1b[31m\nnl\u202e"}
# DIR: the folder; OTHER: the same results under a plain name.
COMMANDS = [
    "verify DIR", "show DIR", "show DIR OTHER --json",
    "plot DIR --formats svg", "plot DIR OTHER --formats svg --out DIR/both", "plot --terminal DIR", "report DIR",
    "report OTHER -o DIR/page.html", "export DIR --csv", "export DIR --md", "export DIR --prom", "export DIR --csv -o DIR/x.csv",
    "compare DIR OTHER", "compare DIR OTHER --json", "compare DIR OTHER --json DIR/c.json",
    "baseline promote --model DIR --into DIR/stored", "fleet report DIR", "fleet report DIR --json --out DIR/f", "fleet collect DIR",
    "fleet plan --nodes OTHER/nodes --gpus 1 --out DIR/plan", "fleet status DIR/fleet", "predict relu n:64 --format fp32 --on DIR",
    "import csv DIR/points.csv -o DIR/imported", "fleet submit DIR", "gate --session DIR", "run --resume DIR --dry-run",
    "import csv DIR -o DIR/none", "duel --read DIR", "list --shapes DIR", "predict model DIR --on h100-sxm", "plot --config DIR",
]  # fmt: skip


@pytest.fixture(name="folders", scope="module", params=NAMES.values(), ids=NAMES)
def folders_fixture(request, tmp_path_factory):
    """The folder with the name, after all commands that write a file which a later one reads."""
    root = tmp_path_factory.mktemp("names")
    for name in (request.param, "other"):
        shutil.copytree(GOLDEN, root / name)
    folder = root / request.param
    (folder / "points.csv").write_text("name,time_us,format\na,1,fp32\n")
    (root / "other" / "nodes").write_text("gn1\n")
    assert ridgebench("fleet", "plan", "--nodes", root / "other" / "nodes", "--gpus", "1", "--out", folder / "fleet").returncode == OK
    return folder, root / "other"


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_takes_and_prints_any_name(folders, line):
    folder, other = folders
    done = ridgebench(*(word.replace("DIR", str(folder)).replace("OTHER", str(other)) for word in line.split()))
    assert done.returncode < 8 and "internal error" not in done.stderr, done.stderr
    assert all(text.isprintable() for text in done.stdout.splitlines()), done.stdout
    assert all(text.isprintable() for text in done.stderr.splitlines()), done.stderr
    assert not any(text.startswith("nl") for text in (done.stdout + done.stderr).splitlines())
