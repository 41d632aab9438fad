"""FLOPs and bytes of ridgebench's operations, which only the binary computes."""

from statistics import median
from typing import Any

from ridgebench.base.files import ResultsError
from ridgebench.base.text import cut
from ridgebench.data import program
from ridgebench.data.records import shape_text
from ridgebench.data.view import OPERATIONS

from . import number_formats
from .point import Point, bad

_ANY_SHEET = "h100-sxm"  # flops and bytes do not depend on the device
_DOUBTED = 0.1  # a larger difference from the shape's FLOPs or bytes is an error of units, of counting, or of the shape


def complete(point: Point) -> None:
    """Adds FLOPs and bytes that follow from operation, shape and format, and holds those of the file to them.

    A name in capital letters, such as RELU, is that of the operation. What a profiler counted is not what the algorithm
    needs, and need not agree. An operation of another tool may have the name of one here and other dimensions, unless it is
    one of the lecture's. Raises ResultsError.
    """
    if not point.operation:
        return
    known = {*OPERATIONS, *program.operations()}
    if point.operation not in known and point.operation.lower() in known:
        point.operation = point.operation.lower()
    of_lecture = point.operation in OPERATIONS
    if not point.shape or point.operation not in known:
        return
    given, point.shape = point.shape, _lower_case(point)
    own = number_formats.of_kernels(str(point.format))  # else the FLOPs follow, and the bytes do not
    try:
        answer = program.predict(point.operation, shape_text(point.shape), str(point.format) if own else "fp32", _ANY_SHEET)
    except ResultsError as error:
        if not of_lecture:
            point.shape = given
            return
        raise bad(point.origin, f"{cut(point.name)}: {error}") from None
    for key in ("flops", "bytes") if own else ("flops",):
        right, stated = float(answer[key]), getattr(point, key)
        if stated is None:
            setattr(point, key, right)
        elif key not in point.counted:
            hold(point.origin, f"{cut(point.name)}: {key} are", stated, f"{point.operation} of {shape_text(point.shape)} has", right)
    if "layout" in answer["shape"]:
        point.shape = dict(answer["shape"])


def hold_rates(point: Point) -> None:
    """Refuses a point whose rates, multiplied by its time, are not its FLOPs and bytes. Raises ResultsError."""
    for key, per_s in point.rates.items():
        work = getattr(point, key)
        if work is not None and key not in point.counted:
            hold(point.origin, f"{cut(point.name)}: {key} per second and the time give", per_s * median(point.times_s), f"{key} are", work)


def hold(origin: str, what: str, stated: float, whose: str, right: float) -> None:
    """Raises ResultsError where a file contradicts itself or the shape."""
    if abs(stated - right) > _DOUBTED * right:
        raise bad(origin, f"{what} {stated:g}, but {whose} {right:g}; allowed: a difference of up to {_DOUBTED:.0%}")


def _lower_case(point: Point) -> dict[str, Any]:
    """The shape with its dimensions in lower case, as those of a known operation are. Raises ResultsError."""
    shape = {name.lower(): size for name, size in point.shape.items()}
    if len(shape) < len(point.shape):
        raise bad(point.origin, f"{', '.join(point.shape)} name a dimension twice; allowed: capital or small letters")
    return shape
