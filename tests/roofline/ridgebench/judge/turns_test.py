"""Turns of two processes; shell scripts stand in for ridgebench."""

import os
import signal
import subprocess
import threading
import time
from functools import partial

import pytest
from command_line import wait_until
from ridgebench.judge.turns import take_turns

# Writes its name at each turn and stops; the script's group is its own, as compare.turns sees to.
SCRIPT = "for i in $(seq {turns}); do kill -STOP 0; echo {name} >>{log}; done; exit {code}"


def script(log, name: str, turns: int, code: int = 0):
    command = SCRIPT.format(turns=turns, name=name, log=log, code=code)
    return partial(subprocess.Popen, ["sh", "-c", command])


def order(log) -> str:
    return "".join(log.read_text().split())


def test_turns_are_taken_a_b_b_a(tmp_path):
    log = tmp_path / "log"
    assert take_turns([script(log, "A", 4), script(log, "B", 4, code=6)]) == [0, 6]
    assert order(log) == "ABBAABBA"


def test_more_than_two_run_in_a_circle_so_that_none_follows_itself(tmp_path):
    log = tmp_path / "log"
    assert take_turns([script(log, name, 3) for name in "ABC"]) == [0, 0, 0]
    assert order(log) == "ABCABCABC"


def measures_rows(log, name: str, samples: list[int]):
    """Takes the given number of turns for each row and adds a line to its records after them."""
    rows = [f"for i in $(seq {n}); do kill -STOP 0; echo {name} >>{log}; done; echo >>{log}.{name}"
            for n in samples]
    return partial(subprocess.Popen, ["sh", "-c", "; ".join(rows)])


def test_who_is_a_row_ahead_waits(tmp_path):
    log = tmp_path / "log"
    starts = [measures_rows(log, "A", [2, 4, 1]), measures_rows(log, "B", [4, 2, 1])]
    records = [tmp_path / "log.A", tmp_path / "log.B"]
    assert take_turns(starts, records) == [0, 0]
    first, second, third = "ABBA" + "BB", "AA" + "BB" + "AA", "BA"
    assert order(log) == first + second + third


def test_one_that_ends_early_leaves_the_other_alone(tmp_path):
    log = tmp_path / "log"
    assert take_turns([script(log, "A", 1, code=3), script(log, "B", 4)]) == [3, 0]
    assert order(log) == "ABBBB"
    log.unlink()
    assert take_turns([script(log, "A", 2), script(log, "B", 0, code=2)]) == [0, 2]
    assert order(log) == "AA"


def test_one_that_is_killed_does_not_hang_the_other(tmp_path):
    log = tmp_path / "log"
    killed = partial(subprocess.Popen, ["sh", "-c", "kill -STOP 0; kill -9 $$"])
    assert take_turns([killed, script(log, "B", 3)]) == [-signal.SIGKILL, 0]
    assert order(log) == "BBB"


def test_a_program_that_cannot_be_started_ends_the_first(tmp_path):
    started = []

    def first(**how):
        started.append(script(tmp_path / "log", "A", 5)(**how))
        return started[0]

    with pytest.raises(FileNotFoundError):
        take_turns([first, partial(subprocess.Popen, ["/no/such/program"])])
    assert started[0].returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("at_term", "code"),
    [("-", -signal.SIGTERM), ("'kill -STOP 0; exit 3'", 3)],
    ids=["at once", "as its turn ends"],
)
def test_an_interruption_ends_both(at_term, code):
    started = []

    def endless(**how):
        script_text = f"trap {at_term} TERM; while :; do kill -STOP 0; sleep 0.01; done"
        started.append(subprocess.Popen(["sh", "-c", script_text], **how))
        return started[-1]

    def interrupt():
        wait_until(lambda: len(started) == 2)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        take_turns([endless, endless])
    thread.join()
    assert [process.returncode for process in started] == [code] * 2
