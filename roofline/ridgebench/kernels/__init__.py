"""Own kernels from Python: described here, but verified, sampled and recorded by the C++ harness in libridgebench.so."""

from ridgebench.kernels.library import KernelError, decode, encode
from ridgebench.kernels.measure import measure
from ridgebench.kernels.operation import Kernel, Operation, kernel, operation
from ridgebench.kernels.signature import integers_below, uniform

__all__ = ["Kernel", "KernelError", "Operation", "decode", "encode", "integers_below", "kernel", "measure", "operation", "uniform"]
