"""The roofline that `run` ends with on a terminal, and `plot --terminal`."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import pytest
from command_line import BINARY, OK, ROOT, SMALL, environment, read_terminal, refused, ridgebench, run

GOLDEN = ROOT / "tests" / "data" / "golden_results"
UTF8 = {"LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": ""}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
BRAILLE = re.compile("[\u2801-\u28ff]")


def on_terminal(*arguments, columns: int = 80, **variables: str) -> str:
    """What a command prints on a terminal of this width; its stderr is not a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [BINARY, *map(str, arguments)]
    with subprocess.Popen(command, env=environment(**UTF8 | variables), stdin=subprocess.DEVNULL, stdout=slave,
                          stderr=subprocess.PIPE) as process:
        os.close(slave)
        shown = read_terminal(master)
        assert process.wait() == OK, process.stderr.read()
    return shown.decode().replace("\r\n", "\n")


def roofline_of(text: str) -> list[str]:
    """The lines of the picture, without colours."""
    lines = ESCAPE.sub("", text).split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("Roofline of")]
    return [line for line in lines[starts[0]:] if line] if starts else []


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_a_finished_run_shows_its_roofline(finished, columns):
    shown = on_terminal("run", "--resume", finished, columns=columns)
    picture = roofline_of(shown)
    assert picture and BRAILLE.search("".join(picture))
    assert len({len(line) for line in picture}) == 1 and len(picture[0]) <= columns
    assert shown.index("operation") < shown.index("Roofline of"), "the table comes first"
    text = "\n".join(picture)
    assert "relu naive" in text and "dot naive" in text and "FLOP/byte" in text


@pytest.mark.parametrize(
    ("arguments", "columns", "variables"),
    [(["--no-plot"], 80, {}), ([], 59, {}), (["--benchmark_format=json"], 80, {})],
)
def test_the_roofline_can_be_left_out(finished, arguments, columns, variables):
    shown = on_terminal("run", "--resume", finished, *arguments, columns=columns, **variables)
    assert "Roofline of" not in shown and "relu" in shown


def test_a_pipe_gets_the_table_alone(finished):
    result = ridgebench("run", "--resume", finished, env=environment(**UTF8))
    assert result.returncode == OK and "Roofline" not in result.stdout + result.stderr


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"LC_ALL": "C"}, {"LC_ALL": "", "LC_CTYPE": "", "LANG": "POSIX"}])
def test_terminals_without_braille_get_ascii(finished, variables):
    picture = roofline_of(on_terminal("run", "--resume", finished, **variables))
    assert picture and all(line.isascii() for line in picture)


def test_colours_are_those_of_a_terminal_without_no_color(finished):
    assert ESCAPE.search(on_terminal("plot", "--terminal", finished))
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert not ESCAPE.search(on_terminal("plot", "--terminal", finished, **variables))
    assert not ESCAPE.search(on_terminal("plot", "--terminal", finished, "--no-color"))
    assert not ESCAPE.search(on_terminal("run", "--resume", finished, "--benchmark_color=false"))


def test_plot_needs_neither_python_nor_a_terminal(tmp_path):
    variables = environment(RIDGEBENCH_PYTHON=str(tmp_path / "no-python"), **UTF8)
    result = ridgebench("plot", GOLDEN, "--terminal", env=variables)
    assert (result.returncode, result.stderr) == (OK, "")
    picture = roofline_of(result.stdout)
    assert len(picture[0]) <= 80 and "ridge" in result.stdout and not ESCAPE.search(result.stdout)
    wide = ridgebench("plot", "--terminal", "--width", "120", "--ascii", GOLDEN, env=variables)
    assert wide.stdout.isascii() and 80 < len(roofline_of(wide.stdout)[0]) <= 120


@pytest.mark.parametrize(("device", "ridge"), [("h100-sxm", "ridge 295"), ("H200", "ridge 206")])
def test_a_data_sheet_has_its_roofs_alone(device, ridge):
    result = ridgebench("plot", "--terminal", "--on", device)
    assert result.returncode == OK and ridge in result.stdout
    assert "a  " not in result.stdout, "no rows"


def test_a_row_that_raised_its_roof_has_the_mark_of_the_figures(finished, tmp_path):
    """A row above its ceiling raises the roof first and is judged by it, as in tables and figures (docs/method/roofs.md)."""
    marked = tmp_path / "marked"
    shutil.copytree(finished, marked)
    lines = (marked / "records.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    kernels = [row for row in rows if row["role"] == "kernel" and row["flops"]]
    for row, share in zip(kernels, (1.24, 0.84), strict=False):
        row["roof"] = row["roof"] | {"flops_per_s": 1e18, "bytes_per_s": row["bytes"] / row["time_median_s"] / share}
        row["fraction_of_measured_roof"] = share
    (marked / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = ridgebench("plot", "--terminal", marked, env=environment(**UTF8)).stdout
    assert "100 %\u2191" in shown and "\u2191 raised its roof" in shown and "124 %" not in shown
    assert len({len(line) for line in roofline_of(shown)}) == 1
    ascii_lines = ridgebench("plot", "--terminal", "--ascii", marked).stdout
    assert "100 %^" in ascii_lines and "^ raised its roof" in ascii_lines and ascii_lines.isascii()


def test_results_of_a_run_without_ceilings_have_the_roofs_that_judged_it(finished, tmp_path):
    judged = tmp_path / "judged"
    assert run(judged, *SMALL, "--ceilings", finished).returncode == OK
    assert "memory " in ridgebench("plot", "--terminal", judged).stdout


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), ("nothing to draw", "--on DEVICE")),
        (("/nowhere",), ("/nowhere", "is not a results directory", "--on DEVICE")),
        (("--on", "h1000"), ("'h1000'", "nearest", "allowed")),
        ((GOLDEN, GOLDEN), ("one results directory or --on DEVICE",)),
        (("--width", "59", GOLDEN), ("59", "60 to 140")),
        (("--width", "wide", GOLDEN), ("wide",)),
        (("--device", "cuda:9", GOLDEN), ("no device 'cuda:9'", "allowed")),
        (("--device", "cpu", "--on", "h200"), ("--device",)),
        (("--on", "h200", GOLDEN), ("--on",)),
        (("--theme", "dark", GOLDEN), ("--theme", "`ridgebench plot --terminal --help`")),
    ],
)
def test_bad_input_is_one_line(arguments, parts):
    refused(ridgebench("plot", "--terminal", *arguments), *parts)


def test_folders_that_are_no_run_are_refused(finished, tmp_path):
    refused(ridgebench("plot", "--terminal", tmp_path), "records.jsonl", "cannot be read")
    broken = tmp_path / "broken"
    shutil.copytree(finished, broken)
    (broken / "records.jsonl").write_text('{"id": "\x1b[2J"}\n')
    refused(ridgebench("plot", "--terminal", broken), "records.jsonl")


def test_the_help_of_plot_terminal_names_its_options():
    result = ridgebench("plot", "--terminal", "--help")
    assert result.returncode == OK
    for option in ("--on", "--device", "--width", "--ascii", "--no-color"):
        assert option in result.stdout
