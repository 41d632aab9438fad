"""The points of operations by the model, which a device should reach, all counted by the binary."""

from dataclasses import dataclass, replace
from typing import Iterable, Optional

from ridgebench.data.program import predict
from ridgebench.data.records import Row
from ridgebench.data.view import PRODUCTS, View
from ridgebench.figures.scene.roofline import Place, Roof


_COUNTED_ON = "h100-sxm"  # FLOPs and bytes depend on no device
_LARGEST = 1 << 16  # the largest size at which a crossing is sought
DEPTH = 4096  # k and n of the products whose rows grow
_ELEMENTS = {"device": 1 << 29, "host": 1 << 25}  # of elementwise operations: beyond every cache
_SIDE = {"device": 16384, "host": 8192}  # of a matrix that a vector is multiplied with
_ON_A_LINE = 0.01  # a point or a roof that is nearer to a drawn roof lies on its line


@dataclass(frozen=True)
class Mark:
    """A point: an operation at a size. `measured` marks are filled, those by the model hollow."""

    op: str
    intensity: float  # FLOP/byte
    rate: float  # FLOP/s
    seconds: float
    flops: float
    size: int = 0  # the dimension that grows along a path
    measured: bool = False
    technique: str = ""
    shape: str = ""
    name: str = ""
    limit: Optional[Roof] = None  # of a point by the model: the roof on which it lies
    heads: bool = True  # a slide may claim it: the run could finish the row

    @property
    def place(self) -> Place:
        return self.intensity, self.rate

    @property
    def waits(self) -> bool:
        """True if memory limits a point by the model, under the roof of the units that compute it."""
        return self.limit is not None and self.intensity < self.limit.ridge


@dataclass(frozen=True)
class Basis:
    """The roofs of the model: a data sheet of the binary, else the roofs of a run's rows, else the roof."""

    roof: Roof
    on: Optional[str] = None
    view: Optional[View] = None  # only of the format

    def limit(self, op: str, written: Optional[float] = None) -> Roof:
        """The roof of an operation at any size: that of the row with the most similar traffic."""
        row = _similar(self.view, op, written) if self.view else None
        return self.roof if row is None else _roof_over(row, self.roof.flops_per_s)


def _roof_over(row: Row, most: float) -> Roof:
    """The roof of a judged row's operation, at most `most` FLOP/s. All its sizes share the work per FLOP."""
    roof = row.roof or {}
    flats = [most]
    if row.engine != "memory" and roof["flops_per_s"]:
        flats.append(roof["flops_per_s"])
    if roof.get("special_results") and roof.get("special_results_per_s"):
        flats.append(row.flops * roof["special_results_per_s"] / roof["special_results"])
    return Roof(roof["bytes_per_s"], min(flats))


def _similar(view: View, op: str, written: Optional[float]) -> Optional[Row]:
    """The row of an operation with the nearest share of written bytes; of equal ones the fastest."""
    rows = [row for row in view.points if row.op == op and row.roof and row.roof["bytes_per_s"] and row.least_time_s]
    wanted = 0.0 if written is None else written
    return min(rows, key=lambda row: (abs(row.written_fraction - wanted), -(row.roof["flops_per_s"] or 0)), default=None)


def written_share(op: str, shape: str, format_: str) -> Optional[float]:
    """The share of written bytes of a product; other operations have one share at all sizes."""
    pairs = dict(part.split(":") for part in shape.split("/"))
    if op != "matmul" or not all(pairs.get(name, "").isdigit() for name in "mnk"):
        return None
    m, n, k = (int(pairs[name]) for name in "mnk")
    wide = 2 if format_.startswith("fp8") else 1  # its products are stored in 16 bits
    return wide * m * n / (wide * m * n + m * k + n * k)


def mark(basis: Basis, op: str, shape: str, format_: str) -> Mark:
    """The point of an operation by the model. Raises ResultsError where the operation has no such format."""
    told = predict(op, shape, format_, basis.on or _COUNTED_ON)
    intensity, flops = told["intensity_flop_per_byte"], told["flops"]
    if basis.on:
        # A data sheet without a peak of these units bounds the operation by memory only, below the roof of the products.
        limit = Roof(told["bandwidth_bytes_per_s"], told["peak_flops_per_s"] or basis.roof.flops_per_s)
    else:
        limit = basis.limit(op, written_share(op, shape, format_))
    rate = limit.at(intensity)
    return Mark(op, intensity, rate, flops / rate, flops, shape=shape, limit=limit)


def square(n: int) -> str:
    return f"m:{n}/n:{n}/k:{n}/layout:nt"


def rows_of(m: int, depth: int = DEPTH) -> str:
    return f"m:{m}/n:{depth}/k:{depth}/layout:nt"


def depth_of(k: int, side: int) -> str:
    return f"m:{side}/n:{side}/k:{k}/layout:nt"


def default_shape(op: str, host: bool) -> str:
    kind = "host" if host else "device"
    if op in PRODUCTS:
        return square(1024 if host else 8192)
    return f"n:{_SIDE[kind] if op == 'matvec' else _ELEMENTS[kind]}"


def crossing(roof: Roof, shape, format_: str) -> Optional[int]:
    """The least size from which a product is compute-bound; None if no size up to _LARGEST is.

    `shape` makes the text of a shape from the size; the intensity grows with it.
    """

    def beyond(size: int) -> bool:
        return predict("matmul", shape(size), format_, _COUNTED_ON)["intensity_flop_per_byte"] >= roof.ridge

    if not beyond(_LARGEST):
        return None
    low, high = 0, _LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


def sizes(roof: Roof, format_: str, measured: Iterable[int] = ()) -> list[int]:
    """Powers of two on both sides of the ridge, 128 to 8192 on a GPU, out to the measured ones."""
    bend = crossing(roof, square, format_) or _LARGEST
    low = 128
    while low > 4 and low * 3 > bend:
        low //= 2
    known = sorted(measured)
    high = max([min(8192, low * 64), *known])
    low = min([low, *(1 << size.bit_length() - 1 for size in known)])
    found, size = [], low
    while size <= high:
        found.append(size)
        size *= 2
    return found


def path(basis: Basis, format_: str, grown: list[int], shape=square) -> list[Mark]:
    """Matmul at growing sizes."""
    return [replace(mark(basis, "matmul", shape(size), format_), size=size) for size in grown]


def bent(marks: list[Mark]) -> list[tuple[float, float]]:
    """The line through points by the model, as (FLOP/byte, FLOP/s): between two sizes it turns at the ridge of their roof."""
    found = [(one.intensity, one.rate) for one in marks[:1]]
    for one, after in zip(marks, marks[1:]):
        limits = [limit for limit in (one.limit, after.limit) if limit and one.intensity < limit.ridge < after.intensity]
        found += [(limit.ridge, limit.flops_per_s) for limit in limits[:1]]
        found.append((after.intensity, after.rate))
    return found


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _ON_A_LINE * other


def roofs_beside(drawn: Roof, marks: Iterable[Mark], flats: bool = True) -> list[Roof]:
    """The roofs of points by the model that a figure draws beside the roof of matrix products.

    A point that does not lie on the drawn roof has its own one; with `flats` also a point whose units have another peak.
    """
    found: list[Roof] = []
    for mark in marks:
        own = mark.limit
        if own is None or _near(mark.rate, drawn.at(mark.intensity)) and (not flats or _near(own.flops_per_s, drawn.flops_per_s)):
            continue
        if not any(_near(own.bytes_per_s, one.bytes_per_s) and _near(own.flops_per_s, one.flops_per_s) for one in found):
            found.append(own)
    return found


def served(basis: Basis, ops: Iterable[str], format_: str, host: bool) -> list[Mark]:
    """The points of operations at their default sizes. Raises ResultsError where one has no such format."""
    return [mark(basis, op, default_shape(op, host), format_) for op in ops]
