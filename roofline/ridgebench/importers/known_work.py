"""FLOPs and bytes of the operations that ridgebench knows, which the binary computes: they are defined there alone."""

from ridgebench import program
from ridgebench.importers.point import Point, bad
from ridgebench.records import ResultsError, shape_text
from ridgebench.view import OPERATIONS

ANY_SHEET = "h100-sxm"  # flops and bytes do not depend on the device


def complete(point: Point) -> None:
    """Adds FLOPs and bytes that follow from operation, shape and format. Raises ResultsError."""
    missing = [key for key in ("flops", "bytes") if getattr(point, key) is None]
    if not missing or point.operation not in OPERATIONS or not point.shape:
        return
    try:
        answer = program.predict(point.operation, shape_text(point.shape), str(point.format), ANY_SHEET)
    except ResultsError as error:
        raise bad(point.origin, f"{point.name[:200]}: {error}") from None
    for key in missing:
        setattr(point, key, float(answer[key]))
    if "layout" in answer["shape"]:
        point.shape = dict(answer["shape"])
