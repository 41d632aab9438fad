"""Closed and full standard streams, terminals of every width, and limits of the shell."""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios

import pytest
from command_line import (
    BINARY,
    OK,
    ROW_FAILED,
    SMALL,
    UNDECIDED,
    USAGE,
    environment,
    ids,
    read_environment,
    read_terminal,
    records,
    ridgebench,
    run,
)

RUN = f'exec {BINARY} run --out "$FOLDER" {shlex.join(SMALL)}'
ESCAPE = "\x1b"


def shell(command: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env=environment(**variables),
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_never_become_a_results_file(closed, finished, tmp_path):
    folder = tmp_path / "results"
    result = shell(f"{RUN} {closed}", FOLDER=str(folder))
    assert result.returncode == OK
    assert ids(folder) == ids(finished)
    read_environment(folder)  # whole JSON
    assert ridgebench("verify", folder).returncode == OK


@pytest.mark.parametrize("command", ["info", "list --device sim", "run --resume", "verify"])
def test_no_command_aborts_without_streams(command, finished, tmp_path):
    target = f" {finished}" if command in ("run --resume", "verify") else ""
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        assert shell(f"exec {BINARY} {command}{target} {closed}").returncode == OK


def test_a_report_that_is_lost_is_no_success(tmp_path):
    folder = tmp_path / "results"
    result = shell(f"{RUN} > /dev/full", FOLDER=str(folder))
    assert result.returncode == UNDECIDED
    assert "ridgebench: cannot write to standard output" in result.stderr
    assert ridgebench("verify", folder).returncode == OK, "the results are complete"


def on_terminal(columns: int, *arguments: str, **variables: str) -> tuple[int, str]:
    """Run on a terminal of this width; return the exit code and what the terminal got."""
    terminal, stream = pty.openpty()
    fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {k: v for k, v in environment().items() if k != "NO_COLOR"} | variables
    with subprocess.Popen([BINARY, *arguments], stdout=stream, stderr=stream, env=env) as process:
        os.close(stream)
        shown = read_terminal(terminal)
    return process.returncode, shown.decode()


@pytest.mark.parametrize("columns", [20, 80, 300])
def test_the_progress_line_fits_the_terminal(columns, tmp_path):
    code, shown = on_terminal(columns, "run", "--out", str(tmp_path / "results"), *SMALL, TERM="xterm")
    assert code == OK
    lines = re.findall(r"\r\x1b\[K(\[#[^\r\n]*)", shown)
    assert lines and all(len(line) < columns for line in lines)


def test_a_dumb_terminal_gets_no_escapes(tmp_path):
    code, shown = on_terminal(80, "run", "--out", str(tmp_path / "results"), *SMALL, TERM="dumb")
    assert code == OK
    assert ESCAPE not in shown and "relu" in shown


def test_a_narrow_terminal_leaves_out_columns_and_cuts_remarks_but_no_name_and_no_number(tmp_path):
    device = "sim:noise=0.3"  # so that rows have remarks
    arguments = ("run", "--device", device, *SMALL[2:], "--benchmark_color=false")
    _, narrow = on_terminal(40, *arguments, "--out", str(tmp_path / "narrow"), TERM="dumb")
    _, wide = on_terminal(400, *arguments, "--out", str(tmp_path / "wide"), TERM="dumb")
    first = ["operation", "technique", "format", "shape"]
    for shown, columns in ((narrow, [*first, "time"]), (wide, [*first, "regime", "time"])):
        header, *rows = [line for line in shown.splitlines() if re.match("operation|relu|dot|dram", line)]
        assert header.split()[: len(columns)] == columns
        assert all(re.search(r"n:\d+ +(steady +)?[0-9.]+ [num]?s ", row) for row in rows)
    assert "left out for 40 columns: " in narrow and "left out" not in wide


# KiB beside the file of the program, which has the machine code of many GPUs.
LIMITS = [f"-v {os.stat(BINARY).st_size // 1024 + beside}" for beside in (190000, 90000, 45000)]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("command", ["--version", "info", "list --device cpu --filter relu"])
def test_little_address_space_is_enough_to_answer(limit, command):
    result = shell(f"ulimit {limit}; exec {BINARY} {command}", OMP_NUM_THREADS="2")
    assert result.returncode in (OK, USAGE), result.stderr
    assert (result.stdout != "") == (result.returncode == OK)


@pytest.mark.parametrize("limit", LIMITS)
def test_a_run_in_little_address_space_ends_and_says_what_is_missing(limit, tmp_path):
    # The row needs 1 GiB: default shapes are as small as the machine's caches.
    row = "--op relu --technique streaming --format fp32 --shape n:134217728"
    command = f"{BINARY} run --device cpu {row} --budget 1 --out {tmp_path}/results"
    result = shell(f"ulimit {limit}; exec {command}", OMP_NUM_THREADS="2")
    assert result.returncode == ROW_FAILED, result.stderr
    # The least limit may lack the room for the watchdog's thread, before any row.
    ends_early = "ridgebench: the host has too little memory for a thread" in result.stderr
    assert ends_early or "bytes are free" in result.stdout + result.stderr


def test_a_small_stack_is_raised_or_refused_in_a_line(tmp_path):
    folder = tmp_path / "results"
    result = shell(f"ulimit -s 64; {RUN}", FOLDER=str(folder))
    if result.returncode == USAGE:
        assert result.stderr == "ridgebench: the stack is limited to less than 1 MiB; allowed: ulimit -s 1024 or more\n"
        assert not folder.exists()
    else:
        assert result.returncode == OK
        assert all(record["status"] in ("ok", "skipped") for record in records(folder))


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.UTF-8", "xx_XX"])
def test_locales_do_not_change_the_output(locale, finished, tmp_path):
    result = run(tmp_path / "results", env=environment(LC_ALL=locale, LANG=locale))
    assert result.returncode == OK
    assert result.stdout.isascii()
    assert ridgebench("verify", finished, env=environment(LC_ALL=locale)).stdout.endswith(": sound\n")


HOSTILE = ["(.+)+Z", "(a|aa)+$", "(" * 20000 + "Z" + ")" * 20000, "((((a{1000}){1000}){1000}){1000})"]


@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("command", ["list", "run --dry-run", "run --benchmark_filter"])
def test_no_filter_takes_time_or_crashes(pattern, command):
    arguments = command.split()
    flag = arguments.pop() if "benchmark" in command else "--filter"
    result = ridgebench(*arguments, "--device", "sim", f"{flag}={pattern}")
    if result.returncode == USAGE:
        assert result.stderr.count("\n") == 1 and len(result.stderr) < 1000
    else:
        assert (command, result.returncode, result.stdout) == ("list", OK, "")
