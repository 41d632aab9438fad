"""Kernels of a Python file in processes of their own: what they do to clock, checker or memory changes no verdict."""

import os
import platform
import signal
import sys
from pathlib import Path

import pytest
from build_folder import skip_if_sanitized
from command_line import OK, ROW_FAILED, USAGE, environment, one_line, read_environment, records, refused, ridgebench
from ridgebench.base import command_line
from ridgebench.kernels import KernelError, measure

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))

SOFTMAX = """
import os, sys, threading, time
import numpy as np
import ridgebench

def reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

row_softmax = ridgebench.operation("row_softmax", "x[m,n] -> y[m,n]", reference,
                               flops=lambda m, n: 5 * m * n, terms=lambda m, n: n)

def right(x, y):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)

honest = ridgebench.kernel(row_softmax, name="honest")(right)
"""
KERNELS = """
answers = {}

@ridgebench.kernel(row_softmax)
def remembers(x, y):
    if y.ctypes.data not in answers:
        right(x, y)
        answers[y.ctypes.data] = y.copy()
    np.copyto(y, answers[y.ctypes.data])

@ridgebench.kernel(row_softmax)
def checker(x, y):
    np.allclose = np.array_equal = lambda *a, **b: True
    np.testing.assert_allclose = lambda *a, **b: None
    y[:] = 1

@ridgebench.kernel(row_softmax)
def reference_changes(x, y):
    global right
    row_softmax.__dict__["reference"] = lambda x: x
    y[:] = x

launched = threading.Condition()
launches = 0

def later(number, x, y):
    with launched:
        launched.wait_for(lambda: launches > number)
    right(x, y)

@ridgebench.kernel(row_softmax)
def thread(x, y):
    global launches
    with launched:
        launches += 1
        launched.notify_all()
    threading.Thread(target=later, args=(launches, x, y), daemon=True).start()

@ridgebench.kernel(row_softmax)
def prints(x, y):
    print("a line of the kernel")
    right(x, y)

@ridgebench.kernel(row_softmax)
def moves(x, y):
    os.chdir("/")
    right(x, y)

@ridgebench.kernel(row_softmax)
def raises(x, y):
    raise ValueError("no luck")

@ridgebench.kernel(row_softmax)
def exits(x, y):
    os._exit(0)

@ridgebench.kernel(row_softmax)
def fast_clock(x, y):
    time.perf_counter = time.monotonic = lambda: 0.0
    right(x, y)

every = [honest, remembers, checker, reference_changes, thread, prints, moves, raises, exits, fast_clock]
"""
# A jump in place of clock_gettime: each time is a sixteenth of what it was. A claim contains the time for which the process waited
# for a processor, and what the program saw does not: half of the time could be true on a busy host.
CLOCK = """
import ctypes, mmap
sixteenth = bytes.fromhex("b8e4000000 0f05 486906 00ca9a3b 48034608 48c1e804 31d2 b900ca9a3b 48f7f1 488906 48895608 31c0 c3")
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(sixteenth)
libc = ctypes.CDLL(None)
there = ctypes.addressof(ctypes.c_char.from_buffer(code))
function = ctypes.cast(libc.clock_gettime, ctypes.c_void_p).value
assert libc.mprotect(ctypes.c_void_p(function & ~4095), 8192, 7) == 0
ctypes.memmove(function, b"\\x48\\xb8" + there.to_bytes(8, "little") + b"\\xff\\xe0", 12)
"""
SHAPE = "--shape=m:64/n:512"


def written(folder: Path, *parts: str, name: str = "own.py") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(parts))
    return folder / name


def measured(file: Path, name: str, out: Path, code: int = OK, device: str = "sim", **options):
    """What the run said, and its rows of the file by technique."""
    done = ridgebench("run", f"--load={file}:{name}", SHAPE, f"--device={device}", "--budget=3", "--no-plot", f"--out={out}",
                      **options)
    assert done.returncode == code, done.stderr
    return done, {row["technique"]: row for row in records(out) if row["loaded_from"]}


@pytest.fixture(scope="module", name="every")
def every_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("every")
    file = written(folder, SOFTMAX, KERNELS)
    return (*measured(file, "every", folder / "results", ROW_FAILED), folder)


def test_an_honest_kernel_is_isolated(every):
    _, rows, folder = every
    row = rows["honest"]
    assert (row["status"], row["isolated"], row["loaded_from"]) == ("ok", True, "own.py:every")
    assert (row["flops"], row["bytes"]) == (5 * 64 * 512, 2 * 4 * 64 * 512)
    assert read_environment(folder / "results")["loaded"][0]["file"] == "own.py:every"
    found = ridgebench("verify", folder / "results").stderr.splitlines()
    assert found and all(" is wrong: " in line and "row_softmax/honest" not in line for line in found), "only rows that are wrong"


@pytest.mark.parametrize(
    ("technique", "status", "reason"),
    [
        ("remembers", "wrong", "on new values of"),
        ("checker", "wrong", "differs from the reference"),
        ("reference_changes", "wrong", "differs from the reference"),
        ("thread", "wrong", ""),
        ("prints", "ok", None),
        ("moves", "ok", None),
        ("fast_clock", "ok", None),
        ("raises", "failed", "ValueError: no luck (own.py:"),
        ("exits", "failed", "crashed: a call of exit"),
    ],
)
def test_what_a_kernel_does_to_its_process_changes_no_verdict(every, technique, status, reason):
    row = every[1][technique]
    assert row["status"] == status, row["reason"]
    assert row["reason"] is None if reason is None else reason in row["reason"]


def test_what_a_kernel_prints_goes_to_standard_error(every):
    done = every[0]
    assert "a line of the kernel" not in done.stdout
    assert "a line of the kernel" in done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the jump is code of x86-64")
def test_a_kernel_whose_clock_is_slow_is_suspect(tmp_path):
    file = written(tmp_path, SOFTMAX, CLOCK)
    done = ridgebench("run", f"--load={file}:honest", "--shape=m:512/n:512", "--device=cpu", "--budget=1", "--no-plot",
                      f"--out={tmp_path / 'results'}")  # fmt: skip
    assert done.returncode == ROW_FAILED, done.stderr
    (row,) = [row for row in records(tmp_path / "results") if row["loaded_from"]]
    assert row["status"] == "suspect" and row["reason"].startswith("the kernel's process claims ")


@pytest.mark.parametrize(
    ("source", "name", "parts"),
    [
        ("import nothing_of_that_name", "honest", ("it raised ModuleNotFoundError", "(own.py:1) while it was imported")),
        ("1 / 0", "honest", ("it raised ZeroDivisionError: division by zero (own.py:1) while it was imported",)),
        ("def f(:", "honest", ("it raised SyntaxError",)),
        ("raise SystemExit", "honest", ("it raised SystemExit",)),
        ("import os\nos._exit(0)", "honest", ("it ended the program while it was loaded: a call of exit",)),
        (SOFTMAX, "absent", ("absent is not in the file; allowed: honest",)),
        (SOFTMAX, "row_softmax", ("row_softmax is neither a kernel nor a list of kernels; allowed: honest",)),
        ("x = 1", "x", ("allowed: a file with what ridgebench.kernel() returned",)),
        (SOFTMAX + "ridgebench.measure(honest, 'm:8/n:8')", "honest", ('below `if __name__ == "__main__":`',)),
        (SOFTMAX + "a = ridgebench.kernel(row_softmax, name='a', library='cupy')(right)", "a",
         ("row_softmax/a is for a GPU, and kernels of a Python file run only on a host", "measure() in the script")),
        (SOFTMAX + "b = ridgebench.kernel(ridgebench.operation('relu', 'x[n] -> y[n]', right, flops=1))(right)", "b",
         ("ridgebench has an operation relu",)),
        (SOFTMAX.replace("5 * m * n", "None"), "honest", ("flops of row_softmax at {'m': 64, 'n': 512}: TypeError",)),
    ],
    ids=["import", "raises", "syntax", "exit", "_exit", "absent", "operation", "no kernel", "measure", "gpu", "relu", "flops"],
)  # fmt: skip
def test_a_file_that_cannot_be_served_is_refused_in_one_line(source, name, parts, tmp_path):
    file = written(tmp_path, source)
    done = ridgebench("run", f"--load={file}:{name}", SHAPE, "--device=sim", f"--out={tmp_path / 'results'}")
    refused(done, *parts)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{}", "it names no kernel of the Python file; allowed: {}:NAME"),
        ("{}:", "it names no kernel of the Python file; allowed: {}:NAME"),
        ("{}:a.b", "it names no kernel of the Python file; allowed: {}:NAME"),
        ("{}.py:honest", "there is no such file"),
    ],
)
def test_a_text_that_names_no_kernel_is_refused(text, part, tmp_path):
    file = str(written(tmp_path, SOFTMAX))
    refused(ridgebench("list", "--load", text.replace("{}", file)), part.replace("{}", file))


def test_a_python_that_does_not_start_is_named(tmp_path):
    file = written(tmp_path, SOFTMAX)
    done = ridgebench("list", f"--load={file}:honest", env=environment(RIDGEBENCH_PYTHON="/no/python"))
    refused(done, "cannot run /no/python; a Python file needs Python 3.9 or newer", "RIDGEBENCH_PYTHON names another")


def test_a_hostile_current_folder_does_not_matter(tmp_path):
    file = written(tmp_path / "kernels", SOFTMAX)
    for name in ("numpy", "ridgebench", "ctypes", "struct"):
        written(tmp_path, "raise SystemExit('hostile')", name=f"{name}.py")
        written(tmp_path / "kernels", "raise SystemExit('hostile')", name=f"{name}.py")
    done = ridgebench("list", f"--load={file}:honest", SHAPE, "--device=sim", cwd=tmp_path)
    assert done.returncode == OK, done.stderr
    assert "row_softmax/honest/fp32/m:64/n:512" in done.stdout


def test_a_shape_without_op_is_for_the_operations_of_the_file(tmp_path):
    file = written(tmp_path, SOFTMAX)
    done = ridgebench("list", f"--load={file}:honest", SHAPE, "--device=sim")
    assert [line.split("/")[0] for line in done.stdout.splitlines()] == ["row_softmax"]


@pytest.mark.parametrize("command", ["run", "list"])
def test_a_command_without_a_shape_is_refused_and_leaves_no_kernel_out(command, tmp_path):
    file = written(tmp_path, SOFTMAX)
    done = ridgebench(command, f"--load={file}:honest", "--device=sim", cwd=tmp_path)
    refused(done, "operation row_softmax has no shapes of its own; allowed: --shape SHAPE, or --shapes FILE")


def test_other_operations_need_no_shape_of_the_file(tmp_path):
    file = written(tmp_path, SOFTMAX)
    done = ridgebench("list", f"--load={file}:honest", "--op=relu", "--device=sim")
    assert done.returncode == OK, done.stderr


def test_a_run_is_resumed_by_the_same_name_only(every):
    _, _, folder = every
    done = ridgebench("run", f"--resume={folder / 'results'}", f"--load={folder / 'own.py'}:honest")
    assert "own.py:every" in one_line(done, USAGE)


@pytest.mark.usefixtures("program")
def test_measure_of_a_file_returns_the_rows_of_a_run(tmp_path):
    file = written(tmp_path, SOFTMAX)
    rows = measure(f"{file}:honest", [{"m": 8, "n": 33}, "m:4/n:8"], device="sim", out=tmp_path / "results", seconds=2)
    own = [row for row in rows if row.op == "row_softmax"]
    assert {row.id.split("/", 3)[3] for row in own} == {"m:8/n:33/steady@sim", "m:4/n:8/steady@sim"}
    assert {(row.status, row.isolated) for row in own} == {("ok", True)}
    assert len(rows) > len(own), "those of the ceilings are included"
    command = read_environment(tmp_path / "results")["command_line"]
    assert command[1:3] == ["run", f"--load={file}:honest"]


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("text", "more", "part"),
    [
        ("absent", {}, "absent is not in the file; allowed: honest"),
        ("honest", {"shapes": []}, "0 shapes and 0 regimes"),
        ("honest", {"regimes": ["steady", "cold"]}, "1 shape and 2 regimes"),
        ("honest", {"out": ""}, "lacks out, the results folder"),
        ("honest", {"shapes": "k:7"}, "k"),
        ("honest", {"fill": "ones"}, "unknown fill 'ones'"),
        ("honest", {"shapes": "m:8/n:8\0"}, "is not a text; allowed: a str without NUL"),
        ("honest", {"regimes": "hot"}, "unknown regime 'hot'"),
        ("honest", {"seconds": -1}, "seconds is -1; allowed: a number from 0"),
    ],
)
def test_measure_of_a_file_that_makes_no_sense_is_refused(text, more, part, tmp_path):
    asked = {"shapes": "m:8/n:8", "device": "sim", "out": tmp_path / "results", **more}
    with pytest.raises(KernelError) as error:
        measure(f"{written(tmp_path, SOFTMAX)}:{text}", **asked)
    assert part in str(error.value) and error.value.code == USAGE
    assert not (tmp_path / "results").exists()


def test_a_program_that_does_not_start_is_named(program, tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "BINARY", str(tmp_path / "ridgebench"))
    with pytest.raises(KernelError, match="cannot ask the program ridgebench for `run .*/ridgebench is not a program"):
        measure("own.py:honest", "m:8/n:8", out=tmp_path / "results")


@pytest.mark.parametrize(
    ("script", "code", "line"),
    [
        ("kill -INT $PPID; echo note >&2; echo 'ridgebench: interrupted; rows are kept' >&2; exit 3", 3, "interrupted; rows are kept"),
        ("kill -9 $$", 8, "signal 9 ended "),
    ],
)  # fmt: skip
def test_the_end_of_the_program_is_an_error_with_its_code(script, code, line, program, tmp_path, monkeypatch, capsys):
    stand_in = written(tmp_path, f"#!/bin/sh\n{script}\n", name="ridgebench")
    stand_in.chmod(0o755)
    monkeypatch.setattr(command_line, "BINARY", str(stand_in))
    with pytest.raises(KernelError) as error:
        measure("own.py:honest", "m:8/n:8", out=tmp_path / "results")
    assert error.value.code == code and str(error.value).startswith(line)
    assert capsys.readouterr().err == ("note\n" if code == 3 else "")
    with pytest.raises(KeyboardInterrupt):  # the handler is Python's again
        signal.raise_signal(signal.SIGINT)


def test_the_command_is_for_processes_of_the_program(tmp_path):
    from ridgebench.kernels import serve

    with pytest.raises(command_line.CommandError, match="serve is for processes that `run` and `duel` start"):
        serve.main([sys.executable, str(tmp_path)])
