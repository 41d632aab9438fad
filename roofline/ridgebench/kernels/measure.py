"""measure(): hands operations and kernels to the C++ harness, as callbacks, and reads the records that it wrote."""

import ctypes
import gc
import sys
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence, Union

from ridgebench.base.command_line import OK, ROW_FAILED, CommandError
from ridgebench.base.units import counted
from ridgebench.data import program
from ridgebench.data.records import Row, read_rows, shape_text
from ridgebench.kernels import library as c
from ridgebench.kernels.callbacks import empty_launch
from ridgebench.kernels.library import KernelError
from ridgebench.kernels.operation import Kernel
from ridgebench.kernels.run import Run, encoded, joined

_Shape = Union[str, Mapping[str, int]]


def _text_of(shape: _Shape) -> str:
    """The text form of a shape, which may be {"m": 4096, "n": 1024}."""
    if isinstance(shape, str):
        return shape
    if not isinstance(shape, Mapping):
        raise KernelError(f"{shape!r} is not a shape; allowed: 'm:4096/n:1024' or a dict of sizes")
    return shape_text(shape)


def _number(value: Any, what: str, most: float) -> float:
    if isinstance(value, (int, float)) and 0 <= value <= most:
        return value
    raise KernelError(f"{what} is {value!r}; allowed: a number from 0 to {most:g}")


def _listed(value: Any) -> list[Any]:
    """One thing, or a list of them."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Request(NamedTuple):
    """The options of a run."""

    device: str
    out: str
    fill: str
    regimes: list[str]
    seconds: float
    seed: int


def _measure_here(kernels: Sequence[Kernel], shapes: Sequence[str], asked: _Request) -> Path:
    """Measures kernels in this process; returns the results folder."""
    words = (ctypes.c_char_p * len(sys.argv))(*(encoded(word) for word in sys.argv))
    request = c.CRequest(
        device=encoded(asked.device), folder=encoded(asked.out), fill=encoded(asked.fill), regimes=joined(asked.regimes),
        seconds=asked.seconds, seed=asked.seed, command_line=words, command_line_count=len(words),
        empty_launch=empty_launch(), user=None)
    with Run() as run:
        run.add(kernels, shapes, asked.device)
        sys.stdout.flush()
        collecting = gc.isenabled()
        gc.disable()  # a collection would be part of a launch
        try:
            return run.measure(request)
        finally:
            if collecting:
                gc.enable()


def _measure_isolated(file: str, shapes: Sequence[str], asked: _Request) -> Path:
    """Measures the kernels of FILE.py:NAME by the program; returns the results folder."""
    if not asked.out:
        raise KernelError(f"measure({file!r}, ...) lacks out, the results folder; allowed: out='FOLDER'")
    if not shapes or len(asked.regimes) > 1:
        raise KernelError(f"{counted(len(shapes), 'shape')} and {counted(len(asked.regimes), 'regime')} of {file}; allowed: a shape or more, and "
                          "one regime at most")
    words = ["run", f"--load={file}", f"--device={asked.device or 'cpu'}", f"--out={asked.out}", f"--seed={asked.seed}",
             f"--fill={asked.fill}", "--no-plot", *(f"--shape={shape}" for shape in shapes)]
    words += [f"--budget={asked.seconds}"] if asked.seconds else []
    words += [f"--regime={regime}" for regime in asked.regimes if regime]
    joined(words)  # refuses what is not a text
    sys.stdout.flush()
    try:
        code, line = program.measured(*words)
    except CommandError as error:
        raise KernelError(str(error), error.code) from None
    if code not in (OK, ROW_FAILED):
        raise KernelError(line, code)
    return Path(asked.out)


def measure(kernels: Union[str, Kernel, Sequence[Kernel]], shapes: Union[_Shape, Sequence[_Shape]], *, device: str = "",
            out: Union[str, Path] = "", seconds: float = 0, seed: int = 1, fill: str = "normal",
            regimes: Union[str, Sequence[str]] = ()) -> list[Row]:
    """Verifies, measures and judges kernels at each shape ("m:4096/n:1024", or a dict of sizes) as `ridgebench run` does.

    The text "FILE.py:NAME" represents the kernel, or the list of kernels, that the file calls NAME. They run isolated, in
    processes of their own on a host, as by `run --load FILE.py:NAME`; kernels that are given as such run in this one.
    Prints the table and returns the records, those of the ceilings included. The other arguments are the options of
    `run`: --device, --out (the results folder), --budget, --seed, --fill and --regime. Raises KernelError, with one
    line and the exit code, where nothing was measured or the run ended early; a row that is wrong or failed raises
    nothing: its `status` and `reason` say so.
    """
    if c.SERVING:
        raise KernelError("the file calls measure() while it is imported; allowed: below `if __name__ == \"__main__\":`")
    texts = [_text_of(shape) for shape in _listed(shapes)]
    asked = _Request(device, str(out), fill, _listed(regimes), _number(seconds, "seconds", 1e9),
                     int(_number(seed, "seed", 2**53)))
    if isinstance(kernels, str):
        folder = _measure_isolated(kernels, texts, asked)
    else:
        folder = _measure_here(_listed(kernels), texts, asked)
    rows = read_rows(folder / "records.jsonl")[0]
    own = [row for row in rows if row.isolated is not None]
    if own and all(row.status == "skipped" for row in own):
        raise KernelError(f"nothing was measured; {own[0].id}: {own[0].reason}", ROW_FAILED)
    return rows
