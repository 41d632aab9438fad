"""Commands in Python and their standard streams: locales, closed streams, pipes, full disks, hostile texts."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from golden import GOLDEN, ROOT
from synthetic_session import record, write_run

ASCII = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
COMMANDS = {
    "compare": ["compare", GOLDEN, GOLDEN],
    "describe": ["compare", "--describe", GOLDEN, GOLDEN],
    "summary": ["summary", GOLDEN],
    "help": ["--help"],
}


def start(words, redirection: str = "", **variables: str) -> subprocess.CompletedProcess:
    """Runs a command of the package by a shell, which may close or redirect its streams."""
    environment = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LANG", "PYTHONIOENCODING", "COLUMNS")}
    environment |= {"PYTHONPATH": str(ROOT / "roofline"), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    shell = ["bash", "-c", f'"$@" {redirection}', "bash", sys.executable, "-m", "ridgebench", *map(str, words)]
    return subprocess.run(shell, env=environment, capture_output=True, check=False)


@pytest.fixture(name="hostile")
def hostile_fixture(tmp_path):
    """A run whose texts hold everything that an encoding or a terminal may stumble over."""
    names = ["relu/µ±—\u202e\U0001f600", "relu/\x1b[31mred\r\nWORSE forged", "relu/" + "x" * 10_000]
    return write_run(tmp_path / "run", [record(name, 1e-3) for name in names], {})


@pytest.mark.parametrize("variables", [ASCII, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_locale_without_most_characters(name, variables):
    done = start(COMMANDS[name], **variables)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout
    assert b"+-" in done.stdout or name != "compare" or variables.get("PYTHONIOENCODING") == "latin-1"


def test_an_error_in_a_locale_without_its_characters(tmp_path):
    done = start(["compare", tmp_path / "µ", GOLDEN], **ASCII)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and done.stderr.isascii()


@pytest.mark.parametrize("variables", [{}, ASCII])
def test_texts_of_files_reach_no_terminal_raw(hostile, variables):
    for words in (["compare", hostile, hostile], ["compare", "--describe", hostile, hostile]):
        done = start(words, **variables)
        assert (done.returncode, done.stderr) == (0, b"")
        text = done.stdout.decode("utf-8")
        assert all(line.isprintable() for line in text.splitlines()) and "\r" not in text
        assert not any(line.startswith("WORSE forged") for line in text.splitlines())


def test_an_error_is_one_line_of_bounded_length(hostile):
    lines = (hostile / "records.jsonl").read_text()
    (hostile / "records.jsonl").write_text(lines + lines.splitlines()[2] + "\n")
    done = start(["compare", hostile, hostile])
    assert done.returncode == 2 and done.stderr.endswith(b" comes twice\n") and len(done.stderr) < 1000


def test_closed_streams_neither_abort_nor_become_a_file(tmp_path):
    report = tmp_path / "report.json"
    for closed in ("<&- >&- 2>&-", "2>&-", ">&-"):
        report.unlink(missing_ok=True)
        done = start([*COMMANDS["compare"], "--json", report], closed)
        assert done.returncode == 0, done
        assert json.loads(report.read_text())["counts"], closed


@pytest.mark.parametrize(
    ("words", "code"), [(COMMANDS["compare"], 0), (["compare", "/no/such", GOLDEN], 2), (["export", "/no/such", "--csv"], 2)]
)
def test_a_full_disk_behind_standard_error_takes_notes_and_no_exit_code(words, code):
    assert start(words, "2>/dev/full").returncode == code


@pytest.mark.parametrize("words", [COMMANDS["compare"], ["plot", GOLDEN], ["report", GOLDEN]])
def test_too_little_address_space_is_one_line(words, tmp_path):
    """OpenBLAS would try for ever to get memory, and SIGTERM would not end it."""
    limited = ["bash", "-c", 'ulimit -v 250000; exec "$@"', "bash", sys.executable, "-m", "ridgebench", *map(str, words)]
    done = subprocess.run(limited, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT / "roofline")}, capture_output=True, check=False)
    assert done.returncode == 6 and done.stderr.count(b"\n") == 1
    assert b": too little memory: ulimit -v leaves 244 MiB of address space; allowed: more" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_pipe_whose_reader_has_gone():
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "ridgebench", *map(str, COMMANDS["compare"])]
    variables = os.environ | {"PYTHONPATH": str(ROOT / "roofline")}
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, env=variables, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_the_first_line_alone():
    done = start(COMMANDS["help"], "| head -1")
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.startswith(b"usage: ")


def test_a_full_disk(tmp_path):
    done = start([*COMMANDS["compare"], "--json", tmp_path / "report.json"], "> /dev/full")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == b"compare: standard output: No space left on device\n"
    assert (tmp_path / "report.json").exists(), "the report is written before the text"


@pytest.mark.parametrize("columns", ["1", "20", "100000", "-3", "many"])
def test_widths_of_terminals(columns):
    for words in (["compare", "--help"], COMMANDS["compare"]):
        done = start(words, COLUMNS=columns)
        assert (done.returncode, done.stderr) == (0, b"") and done.stdout


def test_no_escapes_without_a_terminal_that_knows_them():
    for terminal in ("dumb", "xterm-256color", ""):
        assert b"\x1b" not in start(COMMANDS["compare"], TERM=terminal).stdout


def test_notices_of_libraries_are_not_ours(tmp_path):
    """Matplotlib tells of a configuration folder that it cannot write."""
    folder = tmp_path / "results"
    shutil.copytree(GOLDEN, folder)
    file = tmp_path / "file"
    file.write_text("")
    done = start(["plot", folder, "--formats", "svg"], MPLCONFIGDIR=str(file / "below"), HOME=str(file))
    assert done.returncode == 0 and b"atplotlib" not in done.stderr
