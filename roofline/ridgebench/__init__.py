"""Peaks of devices, and readers of the results that ridgebench wrote: figures, comparisons, tables, counters. The package measures
nothing itself: measure() hands own kernels to the C++ library.

The names below are found when they are used, so that `import ridgebench` loads no other module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgebench.base.errors import RequestError as RequestError
    from ridgebench.exchange.export.frame import load as load
    from ridgebench.exchange.timed import time_functions as time_functions
    from ridgebench.exchange.timed import timed as timed
    from ridgebench.kernels import KernelError as KernelError
    from ridgebench.kernels import decode as decode
    from ridgebench.kernels import encode as encode
    from ridgebench.kernels import integers_below as integers_below
    from ridgebench.kernels import kernel as kernel
    from ridgebench.kernels import measure as measure
    from ridgebench.kernels import operation as operation
    from ridgebench.kernels import uniform as uniform
    from ridgebench.peaks.questions import plan as plan
    from ridgebench.peaks.questions import predict as predict
    from ridgebench.peaks.questions import roofline as roofline
    from ridgebench.peaks.rates import Answer as Answer
    from ridgebench.peaks.rates import Bandwidth as Bandwidth
    from ridgebench.peaks.rates import Mfu as Mfu
    from ridgebench.peaks.rates import Peak as Peak
    from ridgebench.peaks.rates import bandwidth as bandwidth
    from ridgebench.peaks.rates import mfu as mfu
    from ridgebench.peaks.rates import peak as peak
    from ridgebench.peaks.sheets import Device as Device
    from ridgebench.peaks.sheets import Memory as Memory
    from ridgebench.peaks.sheets import Rate as Rate
    from ridgebench.peaks.sheets import devices as devices

# Names of the package and the modules that have them.
_KERNELS = ("KernelError", "decode", "encode", "integers_below", "kernel", "measure", "operation", "uniform")
_LAZY = {name: "ridgebench.kernels" for name in _KERNELS}
_LAZY |= {name: "ridgebench.peaks.rates" for name in ("Answer", "Bandwidth", "Mfu", "Peak", "bandwidth", "mfu", "peak")}
_LAZY |= {name: "ridgebench.peaks.questions" for name in ("plan", "predict", "roofline")}
_LAZY |= {name: "ridgebench.peaks.sheets" for name in ("Device", "Memory", "Rate", "devices")}
_LAZY |= {name: "ridgebench.exchange.timed" for name in ("time_functions", "timed")}
_LAZY |= {"load": "ridgebench.exchange.export.frame", "RequestError": "ridgebench.base.errors"}


if not TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'ridgebench' has no attribute {name!r}")
        return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
