"""The JSON of nvbandwidth (`-j`): github.com/NVIDIA/nvbandwidth, json_output.cpp. Rates are multiples of 1e9 bytes per second.

A point is a cell of a test's matrix. Copies between a host and a GPU, or between two GPUs, in one direction become the
operations that the suite's own copies have, with the peer in the shape; the other tests keep their names. Tests of latency are left out. The file has
rates only: the time of a copy follows from its bytes, which are nvbandwidth's --bufferSize.
"""

import re
from pathlib import Path
from typing import Any, Iterator, Optional

from ridgebench.base.files import ResultsError, read
from ridgebench.base.text import quoted

from .point import Imported, Point, WrongForm, bad, device_number, document, named, number, objects, size, time, work

_GIGA = 1e9
_RATE = "(GB/s)"  # in the description of a test that measures a rate
_MIB = 2**20
_FORMAT = "fp32"  # of the suite's own copies, too: bytes have no format
_MOST_DEVICES = 1000
_TEST = re.compile(r"(.*?)_(?:memcpy_)?((?:read_|write_)?(?:ce|sm))")  # host_to_device_memcpy_ce, device_local_copy_sm ...
_PEER_COPY = "copy_to_peer"
_COPIES = {"host_to_device": "copy_to_device", "device_to_host": "copy_to_host", "device_to_device": _PEER_COPY}
_NAMED_DEVICE = re.compile(r"\s*(\d{1,3})\s*:\s*(.*?)\s*(?:\([0-9a-fA-F:.]+\))?\s*")  # "0: NVIDIA H100 80GB HBM3 (00000000:19:00)"


def _test(case: dict, origin: str) -> tuple[str, str]:
    """Operation and technique of a test. Raises ResultsError for one without rates."""
    name = named(case, "name", origin)
    if case.get("status") != "Passed":
        raise ResultsError(f"{name}: {quoted(case.get('status'))}")
    if _RATE not in str(case.get("bandwidth_description")):
        raise ResultsError(f"{name}: its matrix is not in GB/s")
    match = _TEST.fullmatch(name)
    kind, how = match.groups() if match else (name, "nvbandwidth")
    return _COPIES.get(kind, kind), how


def _cells(matrix: Any, origin: str) -> Iterator[tuple[int, int, float]]:
    """Row, column and bytes per second of the cells that have a value. Raises ResultsError."""
    rows = matrix if isinstance(matrix, list) and len(matrix) <= _MOST_DEVICES else None
    if not rows or not all(isinstance(row, list) and 0 < len(row) <= _MOST_DEVICES for row in rows):
        raise bad(origin, f"bandwidth_matrix has no rows; allowed: rows of up to {_MOST_DEVICES} cells")
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell not in ("N/A", None):
                yield row, column, number(cell, origin, f"bandwidth_matrix[{row}][{column}]") * _GIGA


def _points(case: dict, bytes_: int, origin: str) -> Iterator[Point]:
    """A point for each cell of a test. Raises ResultsError."""
    operation, how = _test(case, origin)
    of_gpus = "GPU(row)" in str(case["bandwidth_description"])  # else the row is a host, or the one row of copies within each GPU
    for row, column, per_s in _cells(case.get("bandwidth_matrix"), origin):
        if per_s <= 0:
            raise bad(origin, f"bandwidth_matrix[{row}][{column}] is {per_s / _GIGA:g}; allowed: more than 0")
        pair = f"_gpu{row}_gpu{column}" if of_gpus and operation != _PEER_COPY else ""
        peer = {"peer": float(column)} if operation == _PEER_COPY else {}
        elapsed = time(bytes_ / per_s, origin, "bytes over bandwidth")
        yield Point(origin, f"{case['name']} {row} {column}", [elapsed], bytes=work(bytes_, origin, "bytes"), format=_FORMAT,
                    operation=operation, technique=how + pair, device=row if of_gpus else column, shape={"bytes": bytes_, **peer})


def _buffer(root: dict, mebibytes: Optional[str], origin: str) -> int:
    """The bytes of a copy, by the file or by --buffer-size. Raises ResultsError."""
    stated = root.get("bufferSize", mebibytes)
    if stated is None:
        raise bad(origin, "the file has no bufferSize; --buffer-size MIB states it (nvbandwidth copies 512 MiB unless its --bufferSize "
                          "says otherwise)")
    found = size(stated)
    if found is None or found * _MIB > 2**40:
        raise bad(origin, f"the buffer has {quoted(stated)} MiB; allowed: a whole number from 1 to {2**40 // _MIB}")
    return found * _MIB


def load(path: Path, mebibytes: Optional[str] = None) -> Imported:
    """`mebibytes`: of a copy, for a file that does not say them."""
    root = document(read(path, "nvbandwidth's JSON"), str(path)).get("nvbandwidth")
    if not isinstance(root, dict):
        raise WrongForm(f"{path}: no object 'nvbandwidth'")
    imported = Imported([])
    for text in root.get("GPU Device list") or () if isinstance(root.get("GPU Device list"), list) else ():
        match = _NAMED_DEVICE.fullmatch(str(text))
        if match:
            imported.name_device(device_number(match[1], str(path)), match[2], str(path))
    copied = _buffer(root, mebibytes, str(path))
    for index, case in enumerate(objects(root, "testcases", str(path))):
        with imported.row():
            imported.points += list(_points(case, copied, f"{path}: testcases[{index}]"))
    return imported
