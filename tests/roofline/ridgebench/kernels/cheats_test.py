"""Kernels in Python that do not do their work in each launch are refused, and honest ones are not."""

import ctypes
import os
from pathlib import Path

import numpy as np
import pytest
from build_folder import skip_if_sanitized
from ridgebench.kernels import kernel, measure, operation

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))

SHAPE = {"m": 64, "n": 512}


def softmax_reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


SOFTMAX = operation("softmax", "x[m,n] -> y[m,n]", softmax_reference, flops=lambda m, n: 5 * m * n, terms=lambda m, n: n)


def honest(x, y):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)


def row_of(function, folder):
    """The row of a kernel of the user."""
    rows = measure(kernel(SOFTMAX, name="one")(function), SHAPE, device="cpu", seconds=0.3, out=folder / "run")
    return next(row for row in rows if row.op == "softmax")


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
