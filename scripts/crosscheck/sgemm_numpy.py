"""An independent timing of OpenBLAS's sgemm: numpy's product of two n x n matrices, C = A B^T.

    python sgemm_numpy.py [n] [repeats]

Python's timeit takes the time. Before each repeat the process stops itself until it is continued, as
`ridgebench run --take-turns` does, so that the two can be measured in turn (sides.py).
"""

import os
import signal
import statistics
import sys
import timeit

import numpy as np

n, repeats = (int(text) for text in (sys.argv[1:] + ["1024", "30"][len(sys.argv) - 1 :]))
random = np.random.default_rng(1)
a, b = (random.standard_normal((n, n), np.float32) for _ in range(2))
c = np.empty_like(a)


def multiply() -> None:
    np.matmul(a, b.T, out=c)


times = []
for _ in range(repeats):
    os.kill(0, signal.SIGSTOP)
    multiply()
    times.append(timeit.timeit(multiply, number=3) / 3)
print(f"median {2e-9 * n**3 / statistics.median(times):.2f} GFLOP/s")
