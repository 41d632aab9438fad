"""Kernels in Python that do not do their work in each launch are refused, and honest ones are not."""

import ctypes
import locale
import os
import platform
import resource
import signal
from pathlib import Path

import numpy as np
import pytest
from build_folder import skip_if_sanitized
from ridgebench.kernels import kernel, measure, operation

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))

SHAPE = {"m": 64, "n": 512}
FE_UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}[platform.machine()]  # of glibc's fenv.h


def softmax_reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


SOFTMAX = operation("row_softmax", "x[m,n] -> y[m,n]", softmax_reference, flops=lambda m, n: 5 * m * n, terms=lambda m, n: n)


def honest(x, y):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)


def row_of(function, folder):
    """The row of a kernel of the user."""
    rows = measure(kernel(SOFTMAX, name="one")(function), SHAPE, device="cpu", seconds=0.3, out=folder / "run")
    return next(row for row in rows if row.op == "row_softmax")


def returns_if_right(x, y):
    if np.isnan(y[0, 0]) or np.isnan(y[-1, -1]):
        honest(x, y)


def remembers(key):
    """A kernel that keeps an answer for each key of its arrays."""
    answers = {}

    def function(x, y):
        known = key(x, y)
        if known not in answers:
            honest(x, y)
            answers[known] = y.copy()
        np.copyto(y, answers[known])

    return function


def first_launch_only():
    launched = set()

    def function(x, y):
        if y.ctypes.data not in launched:
            honest(x, y)
        launched.add(y.ctypes.data)

    return function


def every_second():
    launches = [0]

    def function(x, y):
        launches[0] += 1
        if launches[0] % 2:
            honest(x, y)

    return function


def one_launch_late():
    """Stores its arrays, and computes them in the next launch."""
    stored = []

    def function(x, y):
        stored.append((x, y))
        if len(stored) > 1:
            honest(*stored.pop(0))

    return function


def overwrites(x, y):
    honest(x, y)
    ctypes.memset(x.ctypes.data, 0, 4)


def lower_precision(x, y):
    honest(x, y)
    y[:] = y.astype(np.float16)


@pytest.mark.parametrize(
    "function, reason",
    [
        (returns_if_right, "does not compute in each launch"),
        (remembers(lambda x, y: y.ctypes.data), "on new values of"),
        (remembers(lambda x, y: (x[0, 0], x[5, 5], x[-1, -1])), "on new values of"),
        (first_launch_only(), ""),
        (every_second(), ""),
        (one_launch_late(), ""),
        (overwrites, ""),
        (lower_precision, "differs from the reference"),
    ],
    ids=["right", "address", "three values", "first", "second", "late", "overwrites", "precision"],
)
def test_a_cheat_is_wrong(function, reason, tmp_path):
    row = row_of(function, tmp_path)
    assert row.status == "wrong", row.reason
    assert reason in row.reason


def test_what_prepares_itself_once_is_honest(tmp_path):
    memory = {}

    def function(x, y):
        memory.setdefault("table", np.exp(np.linspace(0, 1, 1000)))
        honest(x, y)

    row = row_of(function, tmp_path)
    assert row.status == "ok", row.reason
    assert "few_probes" not in row.flags


def test_what_a_kernel_does_to_its_process_reaches_no_other_row(tmp_path, monkeypatch):
    """The row of the kernel that does it is kept, too: the results folder is relative to the folder of before."""
    monkeypatch.chdir(tmp_path)
    mask = os.umask(0o022)

    def spoils(x, y):
        os.chdir("/")
        os.umask(0o777)
        locale.setlocale(locale.LC_ALL, "C")
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        ctypes.CDLL("libm.so.6").fesetround(FE_UPWARD)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files[0] - 1, files[1]))
        honest(x, y)

    def find() -> tuple:
        now = os.umask(0o022)
        os.umask(now)
        return (os.getcwd(), now, locale.setlocale(locale.LC_ALL), signal.pthread_sigmask(signal.SIG_BLOCK, []),
                ctypes.CDLL("libm.so.6").fegetround(), resource.getrlimit(resource.RLIMIT_NOFILE))  # fmt: skip

    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = find()
    try:
        rows = measure(kernel(SOFTMAX, name="spoils")(spoils), SHAPE, device="cpu", seconds=0.3, out=Path("run"))
        assert find() == before
    finally:
        os.umask(mask)
    assert [row.op for row in rows][-1:] and (tmp_path / "run" / "SHA256SUMS").exists()
