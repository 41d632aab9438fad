"""Options of `plot --style lecture` and of `slides`."""

import argparse
from dataclasses import dataclass
from typing import Callable

from ridgebench.base.command_line import number_of
from ridgebench.base.text import clean
from ridgebench.data.view import OPERATIONS, ORDER

_FILE_TYPES = ("svg", "pdf", "png")
_STYLES = ("lecture", "reference")
DEFAULT_OPERATIONS = ("relu", "gelu", "dot", "matvec", "matmul")
_SCALES = (0.5, 1.25)  # of --font-scale: with larger text names and legend find no room
_LIMITS = (1e-6, 1e9)  # of the numbers of a --point: a plane of more decades would hide every point
_ALIASES = {"fp8": "fp8_e4m3"}


@dataclass(frozen=True)
class UserPoint:
    """A point of --point: FLOP per byte and FLOP/s."""

    name: str
    intensity: float
    flops_per_s: float


@dataclass(frozen=True)
class _Outputs:
    """The names of --formats: types of files, and formats of numbers (none: the default one)."""

    types: tuple[str, ...]
    numbers: tuple[str, ...]


def _user_point(text: str) -> UserPoint:
    """NAME:FLOP_PER_BYTE:TFLOP_PER_S; the name may hold colons."""
    parts = text.rsplit(":", 2)
    if len(parts) < 3 or not parts[0].strip():
        form = "NAME:FLOP_PER_BYTE:TFLOP_PER_S, for instance mine:40:95"
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form {form}")
    rate = number_of(parts[2], *_LIMITS, what="TFLOP/s ")
    return UserPoint(clean(parts[0].strip()), number_of(parts[1], *_LIMITS, what="FLOP per byte "), rate * 1e12)


def _one_of(allowed: tuple[str, ...], what: str) -> Callable[[str], tuple[str, ...]]:
    """A parser of a list of names with commas, each of them allowed."""

    def parse(text: str) -> tuple[str, ...]:
        chosen = tuple(dict.fromkeys(_ALIASES.get(name.strip(), name.strip()) for name in text.split(",")))
        for name in chosen:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"{what} {name!r} is unknown; allowed: {', '.join(allowed)}")
        return chosen

    return parse


_operations = _one_of(OPERATIONS, "operation")


def number_format(text: str) -> str:
    (name, *more) = _one_of(ORDER, "format")(text)
    if more:
        raise argparse.ArgumentTypeError(f"a lecture figure has one format, not {text!r}")
    return name


def _outputs(text: str) -> _Outputs:
    """A list of both, with commas; an empty one means all types of files."""
    chosen = tuple(dict.fromkeys(_ALIASES.get(name, name) for name in text.split(",") if text))
    for name in chosen:
        if name not in _FILE_TYPES + ORDER:
            allowed = f"{', '.join(_FILE_TYPES)} and formats of numbers: {', '.join(ORDER)}"
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {allowed}")
    numbers = tuple(name for name in chosen if name in ORDER)
    return _Outputs(tuple(name for name in chosen if name in _FILE_TYPES) or _FILE_TYPES, numbers)


def _font_scale(text: str) -> float:
    return number_of(text, *_SCALES)


def add_to(parser: argparse.ArgumentParser) -> None:
    """The options of `plot` that choose figures, and those of the lecture figure."""
    parser.add_argument("--formats", type=_outputs, default=_outputs(""), metavar="NAMES",
                        help="types of files (svg, pdf, png) and formats of numbers (bf16, ...); default: all")
    parser.add_argument("--style", choices=_STYLES, help="lecture: that figure alone; reference: all but it")
    parser.add_argument("--on", metavar="SHEET", action="append", default=[],
                        help="data sheet of the lecture figure, e.g. h100-sxm, also without a run; may be repeated")
    parser.add_argument("--op", type=_operations, metavar="OPERATION",
                        help=f"operations of the lecture figure; default: {','.join(DEFAULT_OPERATIONS)}")
    parser.add_argument("--format", type=number_format, metavar="FORMAT",
                        help="number format of the lecture figure; default: bf16, on a host fp32")
    parser.add_argument("--point", type=_user_point, action="append", default=[], metavar="NAME:AI:TFLOP/s",
                        help="a point of your own: its FLOP per byte and TFLOP/s; may be repeated")
    parser.add_argument("--font-scale", type=_font_scale, default=1.0, metavar="0.5..1.25",
                        help="size of the lecture figure's text; larger text leaves no room for names and legend")
    parser.add_argument("--paper", action="store_true", help="lecture figure for a column of 3.3 inches")
