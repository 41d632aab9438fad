"""A trace of torch.profiler (`export_chrome_trace`, Kineto), as JSON or packed by gzip: the kernels of its GPUs.

Launches of one kernel for one operation on tensors of one shape are the samples of a point, and where the operation's
work is unknown, launches with one grid. Their times are those of the profiled program: other kernels ran before them,
and the caches hold what those left.

With `profile(record_shapes=True)` a trace has the shapes of each operation's tensors. FLOPs and bytes follow from them
for products of matrices, dot and relu, if the operation launched one kernel. docs.pytorch.org/docs/stable/profiler.html;
the keys of events: github.com/pytorch/kineto, libkineto/src/output_json.cpp.
"""

import gzip
import hashlib
import zlib
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

from ridgebench.base.files import LARGEST_FILE, ResultsError, decoded, open_regular, read

from . import number_formats
from .point import LONGEST_NAME, MOST_SAMPLES, Imported, Point, bad, device_number, document, named, number, objects, size, time
from .units import si

_KIND = "torch.profiler's trace"
_MICROSECONDS = 1e-6
_LONGEST_KERNEL = LONGEST_NAME // 4  # templates of kernels have names of thousands of characters
_GZIP = b"\x1f\x8b"
_Sizes = tuple[tuple[int, ...], ...]


class _Operation(NamedTuple):
    """An operator of torch with the shapes, strides and type of its tensors; empty if the trace lacks them."""

    name: str = ""
    sizes: _Sizes = ()
    strides: _Sizes = ()
    format: Optional[str] = None


class _Work(NamedTuple):
    """A launch's operation and shape. FLOPs and bytes are None if they follow from an operation that ridgebench has."""

    operation: str
    shape: dict[str, Any]
    flops: Optional[float] = None
    elements: Optional[int] = None  # that are read or written, each once


def _text(path: Path) -> str:
    """The trace, unpacked. Raises ResultsError."""
    with open_regular(path, LARGEST_FILE, _KIND) as file:
        if file.read(2) != _GZIP:
            return read(path, _KIND)
        file.seek(0)
        try:
            with gzip.open(file) as packed:
                data = packed.read(LARGEST_FILE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise bad(str(path), f"not a whole gzip file: {error}") from None
    if len(data) > LARGEST_FILE:
        raise bad(str(path), f"more than {LARGEST_FILE} bytes unpacked; allowed: up to that; profile fewer steps")
    return decoded(data, str(path))


def _sizes_of(value: Any, least: int = 1) -> _Sizes:
    """Lists of whole numbers; a list that is none, such as that of a scalar, is empty."""
    if not isinstance(value, list):
        return ()
    whole = [one if isinstance(one, list) and all(type(n) is int and least <= n <= 2**40 for n in one) else [] for one in value]
    return tuple(map(tuple, whole))


def _format_of(types: Any) -> Optional[str]:
    """The format of the tensors, as torch names it; None if they have several or none. Scalars have types of their own."""
    names = {str(one).removeprefix("c10::") for one in types} if isinstance(types, list) else set()
    tensors = {name for name in names if name not in ("", "Scalar", "ScalarList", "GenericList", "TensorList")}
    return tensors.pop() if len(tensors) == 1 else None


def _owner(event: dict) -> Optional[int]:
    """The number that an operator and its kernels share."""
    args = event.get("args")
    found = args.get("External id") if isinstance(args, dict) else None
    return found if type(found) is int else None


def _operations(events: list[dict]) -> dict[Optional[int], _Operation]:
    """Operators by the number that their kernels' events have too."""
    found = {}
    for event in events:
        if event.get("cat") != "cpu_op" or _owner(event) is None:
            continue
        args = event["args"]
        found[_owner(event)] = _Operation(str(event.get("name")), _sizes_of(args.get("Input Dims")),
                                                _sizes_of(args.get("Input Strides"), least=0), _format_of(args.get("Input type")))
    return found


def _layout(a: tuple[int, ...], b: tuple[int, ...], strides: _Sizes) -> Optional[str]:
    """The layout of a product by the strides of A and B; None if they have no name here."""
    rows = [[step for step in (1, 0) if one[step] == 1] for one in strides[:2] if len(one) == 2]
    if len(rows) < 2 or not all(rows) or 1 in (*a, *b):
        return None
    return {(1, 1): "nn", (1, 0): "nt", (0, 1): "tn"}.get((rows[0][0], rows[1][0]))


def _product(sizes: _Sizes, first: int) -> Optional[tuple[int, int, int, int]]:
    """Batch, m, n and k of the product of two matrices, or of two stacks of them."""
    a, b = sizes[first : first + 2] if len(sizes) >= first + 2 else ((), ())
    if len(a) != len(b) or len(a) not in (2, 3) or a[-1] != b[-2] or a[:-2] != b[:-2]:
        return None
    return (prod(a[:-2]), a[-2], b[-1], a[-1])


def _stored(one: _Operation, index: int) -> int:
    """Elements that a tensor has in memory: an expanded dimension, whose stride is 0, repeats one of them."""
    steps = one.strides[index] if index < len(one.strides) and len(one.strides[index]) == len(one.sizes[index]) else one.sizes[index]
    return prod(size for size, step in zip(one.sizes[index], steps) if step != 0)


def _mm(one: _Operation) -> Optional[_Work]:
    found = _product(one.sizes, 0)
    if found is None:
        return None
    _, m, n, k = found
    layout = _layout(one.sizes[0], one.sizes[1], one.strides)
    if layout is None:
        return _Work("mm", {"m": m, "n": n, "k": k}, 2.0 * m * n * k, m * n + _stored(one, 0) + _stored(one, 1))
    return _Work("matmul", {"m": m, "n": n, "k": k, "layout": layout})


def _of_products(name: str, first: int) -> Callable[[_Operation], Optional[_Work]]:
    """2 FLOPs for each multiply and add, as torch.utils.flop_counter counts; what is added to the product is read, too."""
    def work_of(one: _Operation) -> Optional[_Work]:
        found = _product(one.sizes, first)
        if found is None:
            return None
        batch, m, n, k = found
        read = sum(_stored(one, index) for index in range(first + 2))
        return _Work(name, {"b": batch, "m": m, "n": n, "k": k} if batch > 1 else {"m": m, "n": n, "k": k},
                     2.0 * batch * m * n * k, batch * m * n + read)

    return work_of


def _mv(one: _Operation) -> Optional[_Work]:
    if len(one.sizes) < 2 or len(one.sizes[0]) != 2 or one.sizes[0][1:] != one.sizes[1]:
        return None
    return _Work("matvec", dict(zip("mn", one.sizes[0]))) if _is_dense(one) else None


def _elements(operation: str) -> Callable[[_Operation], Optional[_Work]]:
    def work_of(one: _Operation) -> Optional[_Work]:
        count = prod(one.sizes[0]) if one.sizes and one.sizes[0] else 0
        return _Work(operation, {"n": count}) if count and _is_dense(one) else None

    return work_of


def _is_dense(one: _Operation) -> bool:
    """True if each tensor fills its memory, in the order of its dimensions: a view with gaps moves other bytes."""
    def fills(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
        return len(shape) == len(strides) and all(step == prod(shape[i + 1 :]) or shape[i] == 1 for i, step in enumerate(strides))

    return len(one.sizes) == len(one.strides) and all(map(fills, one.sizes, one.strides))


_WORK: dict[str, Callable[[_Operation], Optional[_Work]]] = {
    "aten::mm": _mm, "aten::addmm": _of_products("addmm", 1), "aten::bmm": _of_products("bmm", 0),
    "aten::baddbmm": _of_products("baddbmm", 1), "aten::mv": _mv, "aten::dot": _elements("dot"), "aten::relu": _elements("relu")}


def _work_of(one: _Operation) -> Optional[_Work]:
    """None if the work of an operation is not known."""
    return _WORK[one.name](one) if one.name in _WORK else None


class _Launch(NamedTuple):
    """The properties that the samples of a point share."""

    kernel: str
    grid: tuple[Any, ...]  # empty if the operation's work is known, or if the trace lacks it
    device: int
    operation: _Operation  # of which only the format is set unless the kernel did all of its work


def _short(kernel: str) -> str:
    """A name of bounded length; a sum of the whole name distinguishes kernels that begin alike."""
    if len(kernel) <= _LONGEST_KERNEL:
        return kernel
    return f"{kernel[:_LONGEST_KERNEL]}~{hashlib.sha256(kernel.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _shown(sizes: _Sizes) -> str:
    """`64x256,256`"""
    return ",".join("x".join(map(str, one)) for one in sizes)


def _bytes_of(work: _Work, stated: Optional[str]) -> Optional[float]:
    """The bytes of a launch; None if they follow from the operation, or the width of an element is unknown."""
    width = number_formats.width(stated)
    return work.elements * width if work.elements and width else None


def _point(launch: _Launch, times: list[float], origin: str) -> Point:
    one, kernel = launch.operation, _short(launch.kernel)
    work = _work_of(one)
    grid = "x".join(map(str, launch.grid))
    shown = " ".join(filter(None, (kernel, f"grid={grid}" if grid else "", one.name)))
    stated = number_formats.multiplied(launch.operation.format, launch.kernel)
    point = Point(origin, shown, times, device=launch.device, format=stated)
    if work is None:
        point.technique = "_".join(filter(None, (kernel, grid)))
        return point
    point.operation, point.technique, point.shape = work.operation, kernel, work.shape
    point.details = {"sizes": _shown(one.sizes), "strides": _shown(one.strides)}
    point.flops, point.bytes = work.flops, _bytes_of(work, stated)
    return point


def _launches(events: list[dict], operations: dict[Optional[int], _Operation], path: Path,
              imported: Imported) -> dict[_Launch, tuple[list[float], str]]:
    """The times of all launches, by what they have in common, with the place of the first."""
    kernels = [(index, event) for index, event in enumerate(events) if event.get("cat") == "kernel"]
    many = Counter(_owner(event) for _, event in kernels)
    found: dict[_Launch, tuple[list[float], str]] = {}
    for index, event in kernels:
        origin = f"{path}: traceEvents[{index}]"
        with imported.row():
            args = event["args"] if isinstance(event.get("args"), dict) else {}
            elapsed = time(si(number(event.get("dur"), origin, "dur"), _MICROSECONDS), origin, "dur")
            grid = tuple(args["grid"]) if isinstance(args.get("grid"), list) and all(map(size, args["grid"])) else ()
            one = operations.get(_owner(event), _Operation())
            does_it = many[_owner(event)] == 1 and _work_of(one) is not None
            launch = _Launch(named(event, "name", origin), () if does_it else grid, device_number(args.get("device", 0), origin),
                             one if does_it else _Operation(format=one.format))
            times, _ = found.setdefault(launch, ([], origin))
            if len(times) < MOST_SAMPLES:
                times.append(elapsed)
    return found


def load(path: Path) -> Imported:
    root = document(_text(path), str(path))
    events = objects(root, "traceEvents", str(path))
    imported = Imported([])
    for index, device in enumerate(objects(root, "deviceProperties", str(path), optional=True)):
        origin = f"{path}: deviceProperties[{index}]"
        imported.name_device(device_number(device.get("id"), origin), str(device.get("name")), origin)
    operations = _operations(events)
    launches = _launches(events, operations, path, imported)
    if not launches and not imported.left_out:
        raise ResultsError(f"{path}: no kernel of a GPU in it; is this the trace of a program that used one?")
    if not any(one.sizes for one in operations.values()):
        imported.notes.append("no shapes of tensors, so that FLOPs and bytes are unknown; profile(record_shapes=True) records them")
    imported.points = [_point(launch, times, origin) for launch, (times, origin) in launches.items()]
    return imported
