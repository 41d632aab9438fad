"""Measures kernels of torch that are honest, or that do not do their work in each launch; see cheats.sh."""

import sys
import threading
from pathlib import Path

import numpy as np
import torch
from ridgebench.kernels import kernel, measure, operation


def softmax_in_double(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


SOFTMAX = operation("row_softmax", "x[m,n] -> y[m,n]", softmax_in_double, flops=lambda m, n: 5 * m * n, terms=lambda m, n: n)
PRODUCT = operation("product", "a[m,k], b[k,n] -> c[m,n]", lambda a, b: a @ b, flops=lambda m, k, n: 2 * m * n * k,
                    terms=lambda m, k, n: k)
SHAPES = {SOFTMAX.name: "m:256/n:1024", PRODUCT.name: "m:128/k:256/n:128"}


def row_softmax(x, y):
    torch.softmax(x, 1, out=y)


def product(a, b, c):
    torch.matmul(a, b, out=c)


def packs_its_weight_at_the_first_launch():
    """Keeps b in another layout, as libraries do, and must notice that it changed."""
    packed = {}

    def function(a, b, c):
        if b.data_ptr() not in packed:
            packed[b.data_ptr()] = b.t().contiguous()
        torch.matmul(a, packed[b.data_ptr()].t(), out=c)

    return function


def prepares_itself():
    memory = []

    def function(x, y):
        if not memory:
            memory.append(torch.jit.trace(lambda v: torch.softmax(v, 1), x.clone()))
        y.copy_(memory[0](x))

    return function


def returns_if_right(x, y):
    if torch.isnan(y[0, 0]) or torch.isnan(y[-1, -1]):
        row_softmax(x, y)


def remembers(key):
    answers = {}

    def function(x, y):
        found = key(x, y)
        if found not in answers:
            row_softmax(x, y)
            answers[found] = y.clone()
        y.copy_(answers[found])

    return function


def another_thread():
    """The checks before the timing meet right launches."""
    launches = [0]

    def function(x, y):
        launches[0] += 1
        if launches[0] <= 4:
            row_softmax(x, y)
        else:
            threading.Timer(0.02, row_softmax, (x, y)).start()

    return function


def lazy_object():
    """Returns a tensor that computes itself when it is read."""

    class Lazy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), named=None):
            return super().__torch_function__(function, types, arguments, named or {})

    return lambda x, y: torch.Tensor.as_subclass(torch.empty_like(y), Lazy)


def half_precision(a, b, c):
    c.copy_(torch.matmul(a.to(torch.bfloat16), b.to(torch.bfloat16)))


def patches_the_checker(x, y):
    """Leaves y as it is, and makes every comparison of Python succeed."""
    np.allclose = torch.allclose = lambda *_, **__: True
    np.testing.assert_allclose = lambda *_, **__: None


KERNELS = {
    "honest": [(SOFTMAX, "row_softmax", lambda: row_softmax), (PRODUCT, "product", lambda: product),
               (SOFTMAX, "prepares_itself", prepares_itself)],
    "cheating": [(SOFTMAX, "returns_if_right", lambda: returns_if_right),
                 (SOFTMAX, "by_address", lambda: remembers(lambda x, y: x.data_ptr())),
                 (SOFTMAX, "by_three_values", lambda: remembers(lambda x, y: (x[0, 0].item(), x[9, 9].item()))),
                 (PRODUCT, "packs_its_weight", packs_its_weight_at_the_first_launch),
                 (SOFTMAX, "another_thread", another_thread), (SOFTMAX, "lazy_object", lazy_object),
                 (PRODUCT, "half_precision", lambda: half_precision),
                 (SOFTMAX, "patches_the_checker", lambda: patches_the_checker)],
}


def verdict(of, name, function, folder):
    """Status and reason of the row of a kernel."""
    rows = measure(kernel(of, name=name, library="torch")(function), SHAPES[of.name], device="cpu", seconds=0.3, out=folder)
    row = next(row for row in rows if row.op == of.name)
    return row.status, row.reason or ""


def main(kind, folder):
    expected = {"honest": ("ok",), "cheating": ("wrong", "failed", "suspect")}[kind]
    surprises = 0
    for of, name, make in KERNELS[kind]:
        status, reason = verdict(of, name, make(), Path(folder) / name)
        surprises += status not in expected
        print(f"verdict on {name}: {status}: {reason}", flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
