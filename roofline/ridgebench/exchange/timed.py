"""timed(): a function that is only to be timed. No operation, no reference, and so no verdict: its row is `unverified`."""

import gc
import inspect
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from ridgebench.base.errors import RequestError
from ridgebench.data.records import Row, read_rows
from ridgebench.exchange.importers import number_formats, records
from ridgebench.exchange.importers.point import Imported, Point

_TOOL = "ridgebench.timed"
_MOST_SAMPLES = 1000
_BATCH_S = 1e-3  # of a sample: the clock's tick and the call of it are a thousandth
_WARM_UP_S = 0.1


@dataclass(frozen=True)
class _Timed:
    """A function without arguments, and what a call of it does; made by timed()."""

    function: Callable[[], Any]
    name: str
    flops: Optional[float]
    bytes: Optional[float]
    format: str
    shape: dict[str, int]
    wait: Optional[Callable[[], Any]]

    def __call__(self) -> Any:
        return self.function()


def _amount(value: Optional[float], what: str, name: str) -> Optional[float]:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")):
        return value
    raise RequestError(f"{what} of {name} are {value!r}; allowed: a number of at least 0, or None")


def timed(*, flops: Optional[float] = None, bytes: Optional[float] = None, format: str = "fp32", name: Optional[str] = None,
          shape: Optional[Mapping[str, int]] = None, wait: Optional[Callable[[], Any]] = None) -> Callable[[Callable[[], Any]], _Timed]:
    """A decorator for a function without arguments that time_functions() shall time.

    flops, bytes  of a call, for a point of the roofline; None: unknown
    format        of its numbers
    name          default: the function's
    shape         sizes, which the row's name has
    wait          waits for a GPU that the function started, for instance torch.cuda.synchronize
    """

    def wrap(function: Callable[[], Any]) -> _Timed:
        if not callable(function):
            raise RequestError(f"timed() of {function!r}; allowed: a function without arguments")
        own = name or getattr(function, "__name__", "function")
        known = number_formats.find(format)
        if known is None:
            raise RequestError(f"format {format!r} of {own}; allowed: {number_formats.allowed()}")
        return _Timed(function, own, _amount(flops, "flops", own), _amount(bytes, "bytes", own), known, dict(shape or {}), wait)

    return wrap


def _batch_s(one: _Timed, calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        one.function()
    if one.wait is not None:
        one.wait()
    return time.perf_counter() - begin


def _samples(one: _Timed, seconds: float) -> list[float]:
    """Seconds of a call, one sample a batch."""
    calls, end = 1, time.perf_counter() + _WARM_UP_S
    while (took := _batch_s(one, calls)) < _BATCH_S or time.perf_counter() < end:
        calls *= 2 if took < _BATCH_S else 1
    found: list[float] = []
    end = time.perf_counter() + seconds
    while len(found) < _MOST_SAMPLES and (not found or time.perf_counter() < end):
        found.append(_batch_s(one, calls) / calls)
    return found


def _point(one: _Timed, seconds: float) -> Point:
    collecting = gc.isenabled()
    gc.disable()  # a collection would be part of a sample
    try:
        times = _samples(one, seconds)
    finally:
        if collecting:
            gc.enable()
    return Point(one.name, one.name, times, flops=one.flops, bytes=one.bytes, operation="timed", technique=one.name, format=one.format,
                 shape=dict(one.shape), regime="warm")


def _source(function: Callable[[], Any]) -> Path:
    """The file of a function as Python names it, such as <stdin>; the module of one that is not of Python."""
    try:
        return Path(inspect.getfile(function))
    except TypeError:
        return Path(str(getattr(function, "__module__", None)))


def time_functions(functions: Union[_Timed, Sequence[_Timed]], *, out: Union[str, Path], seconds: float = 1) -> list[Row]:
    """Times each function for about these seconds and writes a results folder, which `plot` draws as it draws an import.

    Every call finds the data where the last one left it: the rows are `warm`. Raises RequestError, ResultsError, and what
    a function raises.
    """
    each = list(functions) if isinstance(functions, (list, tuple)) else [functions]
    for one in each:
        if not isinstance(one, _Timed):
            raise RequestError(f"{one!r} is not timed; allowed: functions that ridgebench.timed() wrapped")
    if not each or not 0 < seconds <= 1e6:
        raise RequestError(f"{len(each)} functions for {seconds!r} seconds; allowed: one or more, for up to 1e6")
    waits = {one.wait is not None for one in each}
    if len(waits) > 1:
        raise RequestError("some functions have wait and others do not; allowed: functions of one device")
    imported = Imported([_point(one, seconds) for one in each])
    rows = records.records(imported, _TOOL, "cuda" if waits == {True} else "cpu", None)
    if imported.left_out:
        raise RequestError(imported.left_out[0])
    facts = records.environment(imported, rows, _TOOL, _source(each[0].function), {"model": None, "roof": None}, list(sys.argv))
    records.write(Path(out), rows, facts)
    return read_rows(Path(out) / "records.jsonl")[0]
