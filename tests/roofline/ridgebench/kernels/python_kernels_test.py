"""Own kernels from Python, measured by the harness of the build: what is right, wrong and broken, each with its reason."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from build_folder import skip_if_sanitized
from golden import read_environment
from ridgebench.judge import compare_cli as compare
from ridgebench.kernels import decode, encode, kernel, measure, operation

BINARY = os.environ["RIDGEBENCH"]
LIBRARY = Path(os.environ["RIDGEBENCH_LIBRARY"])
skip_if_sanitized(LIBRARY)

SMALL = {"device": "cpu", "seconds": 0.5}


def softmax_reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


SOFTMAX = operation("row_softmax", "x[m,n] -> y[m,n]", softmax_reference, flops=lambda m, n: 5 * m * n, terms=lambda m, n: n)


@kernel(SOFTMAX)
def right(x, y):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)


@kernel(SOFTMAX)
def wrong(x, y):
    np.exp(x, out=y)
    y /= y.sum(axis=0, keepdims=True)  # of the columns


@kernel(SOFTMAX)
def raises(x, y):
    raise ValueError("no\nluck \x1b[31m")


@kernel(SOFTMAX)
def returns(x, y):
    return softmax_reference(x)


@kernel(SOFTMAX)
def returns_its_output(x, y):
    right(x, y)
    return y


@kernel(SOFTMAX)
def writes_its_input(x, y):
    x[:] = 0


@kernel(SOFTMAX)
def writes_outside(x, y):
    right(x, y)
    ctypes.memset(y.ctypes.data + y.nbytes, 0, 4)


CALLS = []


@kernel(SOFTMAX)
def decays(x, y):
    right(x, y)
    CALLS.append(None)
    if len(CALLS) > 1:
        y[0, 0] *= 1.01


@kernel(SOFTMAX)
def takes_one(x):
    pass


KERNELS = [right, wrong, raises, returns, returns_its_output, writes_its_input, writes_outside, decays, takes_one]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The records of all kernels, and their folder."""
    folder = tmp_path_factory.mktemp("own") / "results"
    rows = measure(KERNELS, "m:8/n:33", out=folder, **SMALL)
    return {row.technique: row for row in rows if row.role == "kernel"}, folder


def test_a_right_kernel_is_a_row_like_any_other(measured):
    rows, _ = measured
    row = rows["right"]
    assert (row.status, row.reason, row.op, row.format, row.device) == ("ok", None, "row_softmax", "fp32", "cpu")
    assert row.id == "row_softmax/right/fp32/m:8/n:33/steady@cpu"
    assert (row.flops, row.bytes) == (5 * 8 * 33, 2 * 4 * 8 * 33)
    assert row.written_fraction == 0.5
    assert row.time_ci_low_s <= row.time_median_s <= row.time_ci_high_s
    assert row.roof["memory_ceiling"] and row.roof["compute_ceiling"]
    assert row.bound in ("launch", "memory")  # the noise of a shared machine decides
    assert rows["returns_its_output"].status == "ok"


@pytest.mark.parametrize(
    "name, status, reason",
    [
        ("wrong", "wrong", "before timing, the output differs from the reference by"),
        ("decays", "wrong", "after timing, the output differs from the reference by"),
        ("writes_outside", "wrong", "wrote outside its output"),
        ("raises", "failed", "ValueError: no luck  [31m (python_kernels_test.py:"),
        ("returns", "failed", "the kernel returned a ndarray; it must write into its outputs and return nothing"),
        ("writes_its_input", "failed", "assignment destination is read-only"),
        ("takes_one", "failed", "takes 1 positional argument but 2 were given"),
    ],
)
def test_a_kernel_that_is_not_right_costs_its_row_alone(measured, name, status, reason):
    row = measured[0][name]
    assert row.status == status
    assert reason in row.reason and row.reason.isprintable()


def test_the_folder_is_one_that_the_commands_read(measured, capsys):
    _, folder = measured
    environment = read_environment(folder)
    assert environment["own_kernels"]["operations"] == ["row_softmax"]
    assert 0 < environment["own_kernels"]["launch_floor_s"]["cpu"] < 1e-3
    assert environment["command_line"] == sys.argv
    assert environment["interrupted"] is False
    done = subprocess.run([BINARY, "verify", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 6 and all(" is wrong: " in line for line in done.stderr.splitlines()), "only rows that are wrong"
    # In a process of its own: plot forks, and the threads of the library that measured do not survive a fork.
    package = Path(__file__).resolve().parents[4] / "roofline"
    command = [sys.executable, "-m", "ridgebench", "plot", folder]
    variables = os.environ | {"PYTHONPATH": str(package)}
    drawn = subprocess.run(command, env=variables, capture_output=True, check=False)
    assert drawn.returncode == 0, drawn.stderr
    assert "row_softmax" in (folder / "figures" / "roofline.svg").read_text("utf-8")
    assert compare.main(["--describe", str(folder), str(folder)]) == 0
    assert "row_softmax/right" in capsys.readouterr().out


def test_verify_computes_the_work_of_an_operation_that_no_run_declared(measured, tmp_path):
    _, folder = measured
    environment = read_environment(folder)
    del environment["own_kernels"]
    (tmp_path / "environment.json").write_text(json.dumps(environment))
    (tmp_path / "records.jsonl").write_bytes((folder / "records.jsonl").read_bytes())
    done = subprocess.run([BINARY, "verify", tmp_path], capture_output=True, text=True, check=False)
    assert "unknown operation 'row_softmax'" in done.stdout + done.stderr


def copies(name, reference):
    """A kernel that copies, under an operation with this reference."""
    op = operation(name, "x[n] -> y[n]", reference, flops=lambda n: n)
    return kernel(op, name="copy")(lambda x, y: np.copyto(y, x))


def unlucky(x):
    raise KeyError("no")


BROKEN = {
    "short": (lambda x: x[1:], "it returned values of shape (6,); y has shape (7,)"),
    "scalar": (lambda x: 1.0, "it returned values of shape ()"),
    "unlucky": (unlucky, "the reference failed: KeyError: 'no' (python_kernels_test.py:"),
    "nothing": (lambda x: None, "it returned values of type NoneType, object; allowed: real numbers"),
    "imaginary": (lambda x: x + 1j, "allowed: real numbers"),
    "unknown": (lambda x: x * np.nan, "the reference gives nan with norm nan for an element"),
    "negative": (lambda x: (x, -np.ones_like(x)), "with norm -1 for an element"),
}


@kernel(operation("doubled", "x[n] -> y[n]", lambda x: 2 * x, flops=lambda n: n, formats=["bf16", "fp8_e5m2"]))
def through_float(x, y):
    name = "bf16" if x.dtype == np.uint16 else "fp8_e5m2"
    y[:] = encode(2 * decode(x, name), name)


MATVEC = operation("product", "a[m,n], x:fp16[n] -> y[m]", lambda a, x: a @ x, flops=lambda m, n: 2 * m * n,
                   terms=lambda m, n: n)


@kernel(MATVEC)
def product(a, x, y):
    np.matmul(a, x.astype(np.float32), out=y)


@pytest.fixture(scope="module")
def second(measured, tmp_path_factory):
    """The rows of a later run of the same process by operation and format, and what it printed."""
    kernels = [copies(name, reference) for name, (reference, _) in BROKEN.items()]
    processors = os.sched_getaffinity(0)
    folder = tmp_path_factory.mktemp("second") / "results"
    rows = measure([through_float, copies("with_norms", lambda x: (x, np.abs(x))), *kernels], {"n": 7}, out=folder, **SMALL)
    assert os.sched_getaffinity(0) == processors
    with pytest.raises(KeyboardInterrupt):  # the handler is Python's again
        signal.raise_signal(signal.SIGINT)
    return {(row.op, row.format): row for row in rows if row.role == "kernel"}


def test_a_second_run_knows_nothing_of_the_first(second):
    expected = {(name, "fp32") for name in [*BROKEN, "with_norms"]} | {("doubled", "bf16"), ("doubled", "fp8_e5m2")}
    assert set(second) == expected


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_reference_is_named(second, name):
    row = second[name, "fp32"]
    assert row.status == "failed"
    assert BROKEN[name][1] in row.reason


def test_formats_that_numpy_lacks_are_bits(second):
    assert second["doubled", "bf16"].status == second["doubled", "fp8_e5m2"].status == "ok"
    assert (second["doubled", "bf16"].bytes, second["doubled", "fp8_e5m2"].bytes) == (28, 14)
    assert second["with_norms", "fp32"].status == "ok"


def test_sums_are_compared_with_the_size_of_their_terms(tmp_path):
    """A row of a sum may cancel. Its tolerance is that of the other rows, unless the reference gives norms."""
    rows = measure(product, "m:50/n:3000", out=tmp_path / "run", **SMALL)
    (row,) = [row for row in rows if row.role == "kernel"]
    assert (row.status, row.reason) == ("ok", None)
    assert row.bytes == 4 * 50 * 3000 + 2 * 3000 + 4 * 50


def test_a_costly_reference_is_computed_for_few_buffer_sets(tmp_path):
    """A reference that takes the whole output at once cannot be sampled by rows."""
    calls = []

    def reference(x):
        calls.append(x.size)
        return 2 * x

    costly = operation("costly", "x[n] -> y[n]", reference, flops=lambda n: n, terms=4096)
    rows = measure(kernel(costly, name="double")(lambda x, y: np.multiply(x, 2, out=y)), {"n": 1 << 18}, out=tmp_path / "run", **SMALL)
    (row,) = [row for row in rows if row.role == "kernel"]
    assert row.status == "ok"
    lines = (tmp_path / "run" / "records.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["sets"] for line in lines if "costly" in line][0] > 28
    # Three for the sets and two for a probe, and as many in each of three turns of a second look.
    assert len(calls) <= 4 * 5
    assert "few_probes" in row.flags


def test_every_format_that_a_message_offers_is_served(tmp_path):
    copied = operation("copied", "x[n] -> y[n]", lambda x: x, flops=1, formats=["fp64", "int8"])
    rows = measure([kernel(copied, name="copy")(lambda x, y: np.copyto(y, x))], "n:7", out=tmp_path / "run", **SMALL)
    assert {row.format: row.status for row in rows if row.role == "kernel"} == {"fp64": "ok", "int8": "ok"}
    assert decode(encode([0.1], "fp64"), "fp64")[0] == 0.1
