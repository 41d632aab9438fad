"""Commands in Python under signals, to one process or to its group: the processes that they started end, files are whole or absent.

A test waits for what the command has begun, and never for a number of seconds.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import BINARY, environment, wait_until
from golden import GOLDEN, ROOT
from ridgebench.base.command_line import CommandError
from ridgebench.base.workers import in_parallel

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
PYTHON = environment(PYTHONPATH=str(ROOT / "roofline"))


def begin(*words, **how) -> subprocess.Popen:
    """Starts a command that leads a group of its own."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": PYTHON, "start_new_session": True}
    return subprocess.Popen([*map(str, words)], **pipes | how)


def members(group: int) -> list[int]:
    """The processes of a group that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def drawing(command: str, out: Path) -> subprocess.Popen:
    """A command that draws figures, once its processes have written one."""
    process = begin(BINARY, command, GOLDEN, "--out", out)
    wait_until(lambda: list(out.glob("*")) or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("command", ["plot", "slides"])
@pytest.mark.parametrize("to_group", [False, True], ids=["alone", "group"])
@pytest.mark.parametrize("number", [*ENDING, signal.SIGKILL], ids=lambda number: number.name)
def test_drawing_ends_with_its_processes(number, to_group, command, tmp_path):
    process = drawing(command, tmp_path)
    (os.killpg if to_group else os.kill)(process.pid, number)
    _, said = process.communicate()
    wait_until(lambda: not members(process.pid))
    for path in tmp_path.glob("*.svg"):
        ElementTree.parse(path)
    assert all(path.read_bytes().rstrip().endswith(b"%%EOF") for path in tmp_path.glob("*.pdf"))
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        what = {"plot": "figures", "slides": "slides"}[command]
        assert (process.returncode, said) == (3, f"{command}: interrupted; {what} may be missing\n")
        assert not list(tmp_path.glob(".*")), "what was half written is removed"


def test_a_worker_that_is_killed_ends_the_command(tmp_path):
    process = drawing("plot", tmp_path)
    os.kill(min(set(members(process.pid)) - {process.pid}), signal.SIGKILL)
    _, said = process.communicate()
    assert (process.returncode, said.count("\n")) == (3, 1) and "was killed" in said
    assert not members(process.pid)


def test_tasks_may_compute_what_this_process_has_computed():
    """An OpenBLAS that uses OpenMP has threads after this, and none of them in the processes of the tasks."""
    matrix = np.random.default_rng(1).normal(size=(500, 500))
    inverse = np.linalg.inv(matrix)
    for found in in_parallel(lambda _: np.linalg.inv(matrix), [1, 2]):
        assert np.allclose(found, inverse)


def test_tasks_give_their_results_in_order_and_the_first_error():
    assert in_parallel(lambda number: number**2, list(range(20))) == [number**2 for number in range(20)]
    assert in_parallel(lambda number: number, []) == []

    def refuse(number: int) -> None:
        if number > 2:
            raise CommandError(f"not {number}", 7)

    with pytest.raises(CommandError, match="not 3") as refused:
        in_parallel(refuse, list(range(9)))
    assert refused.value.code == 7


CHILD = """
import sys
from ridgebench.base import interruption
from ridgebench.base.children import completed
interruption.listen()
try:
    completed(["sh", "-c", "trap 'echo kept >{0}; exit' TERM; echo >{1}; while :; do sleep 0.01; done"])
except KeyboardInterrupt:
    sys.exit(3)
"""


@pytest.mark.parametrize("number", [*ENDING, signal.SIGXCPU, signal.SIGKILL], ids=lambda number: number.name)
def test_a_program_that_a_command_started_ends_with_it(number, tmp_path):
    kept, began = tmp_path / "kept", tmp_path / "began"
    process = begin(sys.executable, "-c", CHILD.format(kept, began))
    wait_until(began.exists, process)
    process.send_signal(number)
    process.communicate()
    wait_until(lambda: not members(process.pid))
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 3 and kept.read_text() == "kept\n", "it ends by SIGTERM, and keeps what it has"


CALLBACK = """
import signal
import sys
import time
import weakref
from ridgebench.base import interruption
interruption.listen()
class Owner: pass
owner = Owner()
reference = weakref.ref(owner, lambda _: signal.raise_signal(signal.{0}))
try:
    del owner
    while True: time.sleep(0.01)
except KeyboardInterrupt:
    sys.exit(3)
"""


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_within_a_callback_interrupts_after_it(number):
    """Python's import system has such callbacks. The exception of one reaches no caller."""
    process = begin(sys.executable, "-c", CALLBACK.format(number.name))
    assert process.communicate() == ("", "") and process.returncode == 3


def test_nohup_keeps_a_command_from_the_end_of_its_terminal(tmp_path):
    process = drawing_under_nohup(tmp_path)
    process.send_signal(signal.SIGHUP)
    shown, said = process.communicate()
    assert (process.returncode, said) == (0, "") and " files in " in shown


def drawing_under_nohup(out: Path) -> subprocess.Popen:
    process = begin("sh", "-c", f"trap '' HUP; exec {BINARY} plot {GOLDEN} --out {out}")
    wait_until(lambda: list(out.glob(".*.tmp")), process)
    return process


def test_a_second_signal_ends_a_command_at_once(tmp_path):
    """Interrupts a command whose program does not end by SIGTERM. Repeated at once, a signal counts as one: `timeout` sends two."""
    began = tmp_path / "began"
    stubborn = CHILD.replace("echo kept >{0}; exit", "").format("", began)
    process = begin(sys.executable, "-c", stubborn)
    wait_until(began.exists, process)
    wait_until(lambda: process.send_signal(signal.SIGTERM) or process.poll() is not None)
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    wait_until(lambda: not members(process.pid))


def test_an_error_that_a_library_makes_of_an_interruption_is_none(tmp_path, monkeypatch, capsys):
    from ridgebench import __main__
    from ridgebench.base import interruption

    def load(name: str) -> None:
        try:
            interruption.interrupt(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("numpy.core.multiarray failed to import") from None

    monkeypatch.setattr(__main__, "import_module", load)
    monkeypatch.setattr(interruption, "first_s", None)
    assert __main__.run("plot", []) == 3
    assert capsys.readouterr().err == "plot: interrupted\n"
