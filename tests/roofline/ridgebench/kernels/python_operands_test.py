"""Own operations from Python with several outputs, in place, with attributes, indices, masks, and sizes by arithmetic."""

import os
from pathlib import Path

import numpy as np
import pytest
from build_folder import skip_if_sanitized
from command_line import ROW_FAILED, records, ridgebench
from ridgebench.kernels import integers_below, kernel, measure, operation, uniform

skip_if_sanitized(Path(os.environ["RIDGEBENCH_LIBRARY"]))


def embed_reference(table, index, x, keep, *, eps):
    y = x + np.where(keep[:, None], table[index], 0)
    return 1 / np.sqrt((y * y).mean(axis=1) + eps), y, y.sum()


EMBED = operation(
    "embed", "table[2*m,64], index:int32[m], x[m,64], keep:bool[m] -> scale[m], x[m,64], total[1]",
    lambda *inputs, eps: (lambda scale, y, total: (scale, y, [total]))(*embed_reference(*inputs, eps=eps)),
    flops=lambda m: 4 * 64 * m, terms=lambda m: 64 * m, attributes={"eps": 1e-5},
    values={"index": integers_below("2*m"), "x": uniform(-1e-3, 1e-3), "table": uniform(-1e-3, 1e-3)})


def compute(table, index, x, keep, scale, total, eps):
    x += np.where(keep[:, None], table[index], 0)
    scale[:] = 1 / np.sqrt((x * x).mean(axis=1) + eps)
    total[:] = x.sum(dtype=np.float64)


@kernel(EMBED)
def right(table, index, x, keep, scale, total, *, eps):
    assert (index.dtype, keep.dtype, table.shape[1]) == (np.int32, np.bool_, 64)
    compute(table, index, x, keep, scale, total, eps)


@kernel(EMBED)
def other_eps(table, index, x, keep, scale, total, *, eps):
    compute(table, index, x, keep, scale, total, 10 * eps)


@kernel(EMBED)
def no_mask(table, index, x, keep, scale, total, *, eps):
    compute(table, index, x, np.ones_like(keep), scale, total, eps)


@kernel(EMBED)
def next_row(table, index, x, keep, scale, total, *, eps):
    compute(table, (index + 1) % len(table), x, keep, scale, total, eps)


@kernel(EMBED)
def last_output(table, index, x, keep, scale, total, *, eps):
    compute(table, index, x, keep, scale, total, eps)
    total += 1


@kernel(EMBED)
def not_in_place(table, index, x, keep, scale, total, *, eps):
    compute(table, index, x.copy(), keep, scale, total, eps)


@kernel(EMBED)
def first_is_read_only(table, index, x, keep, scale, total, *, eps):
    index[0] = 0


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operands") / "results"
    kernels = [right, other_eps, no_mask, next_row, last_output, not_in_place, first_is_read_only]
    found = measure(kernels, "m:32/eps:1e-6", device="cpu", seconds=0.5, out=folder)
    return {row.technique: row for row in found if row.role == "kernel"}


def test_a_kernel_of_several_outputs_is_verified_and_its_bytes_count_each_operand(rows):
    row = rows["right"]
    assert (row.status, row.reason) == ("ok", None)
    assert row.shape == {"m": 32, "eps": 1e-6}
    # table, index, x twice, keep, scale, total
    assert row.bytes == 4 * 64 * 64 + 4 * 32 + 2 * 4 * 32 * 64 + 32 + 4 * 32 + 4


@pytest.mark.parametrize("name", ["other_eps", "no_mask", "next_row", "last_output", "not_in_place"])
def test_a_kernel_that_is_wrong_in_one_of_them_is_wrong(rows, name):
    assert rows[name].status == "wrong", rows[name].reason


def test_an_operand_that_is_only_read_cannot_be_written(rows):
    row = rows["first_is_read_only"]
    assert row.status == "failed" and "read-only" in row.reason


POSITIVE = operation("positive", "x[n] -> y:bool[n], s[]", lambda x: (x > 0, x.sum()), flops=lambda n: n, terms=lambda n: n)


@kernel(POSITIVE, name="exact")
def exact(x, y, s):
    np.greater(x, 0, out=y)
    s[...] = x.sum(dtype=np.float64)


@kernel(POSITIVE, name="one_off")
def one_off(x, y, s):
    exact(x, y, s)
    y[-1] ^= True


COUNTS = operation("counts", "x[n] -> y:int32[4]", lambda x: np.bincount(np.clip(np.floor(x + 2), 0, 3).astype(int), minlength=4),
                   flops=0, engine="memory")


@kernel(COUNTS, name="exact")
def counts(x, y):
    y[:] = np.bincount(np.clip(np.floor(x.astype(np.float64) + 2), 0, 3).astype(int), minlength=4)


@kernel(COUNTS, name="one_off")
def counts_off(x, y):
    counts(x, y)
    y[2] += 1


def test_outputs_of_bool_and_int32_and_a_scalar_are_compared(tmp_path):
    found = measure([exact, one_off, counts, counts_off], "n:100", device="cpu", seconds=0.5, out=tmp_path / "results")
    assert {(row.op, row.technique, row.status) for row in found if row.role == "kernel"} == {
        ("positive", "exact", "ok"), ("positive", "one_off", "wrong"), ("counts", "exact", "ok"), ("counts", "one_off", "wrong")}


FILE = """
import numpy as np
import ridgebench

def reference(x, *, eps):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps), x.max(axis=1)

norm = ridgebench.operation("norm", "x[m,2*h] -> y[m,2*h], most[m]", reference, flops=lambda m, h, eps: 8 * m * h,
                            terms=lambda h, m: 2 * h, attributes={"eps": 1e-5}, values={"x": ridgebench.uniform(-0.01, 0.01)})

@ridgebench.kernel(norm)
def right(x, y, most, eps):
    np.divide(x, np.sqrt((x * x).mean(axis=1, keepdims=True) + eps), out=y)
    x.max(axis=1, out=most)

@ridgebench.kernel(norm)
def fixed_eps(x, y, most, eps):
    right(x, y, most, 1e-5)

kernels = [right, fixed_eps]
"""


def test_isolated_kernels_have_outputs_attributes_and_values_too(tmp_path):
    (tmp_path / "norm.py").write_text(FILE)
    out = tmp_path / "out"
    done = ridgebench("run", f"--load={tmp_path}/norm.py:kernels", "--shape=m:8/h:16/eps:1e-6", "--device=cpu", "--budget=0.5",
                      "--no-plot", f"--out={out}")
    assert done.returncode == ROW_FAILED, done.stderr
    found = {row["technique"]: row for row in records(out) if row["role"] == "kernel"}
    assert (found["right"]["status"], found["right"]["isolated"]) == ("ok", True), done.stdout
    assert found["right"]["bytes"] == 4 * (2 * 8 * 32 + 8)
    assert found["right"]["shape"] == {"m": 8, "h": 16, "eps": 1e-6}
    assert found["fixed_eps"]["status"] == "wrong"
    checked = ridgebench("verify", out)
    assert checked.returncode == ROW_FAILED and "fixed_eps" in checked.stderr and checked.stderr.count("\n") == 1, "only the wrong row"
