"""Fat binaries, which hold device code in a host's program: containers of cubins (ELF) and PTX (text), perhaps compressed.

Found by compiling with nvcc 13.0, which compresses by Zstandard; older toolkits compress by LZ4, which only made-up files
have tried. A container has the magic number 0xBA55ED50, a version (16 bits), the size of its head (16 bits) and of what
follows (64 bits). An entry has a kind (16 bits; 1 PTX, 2 ELF), a version, the size of its head (32 bits) and of its payload
(64 bits); at byte 16 the size of the compressed payload before padding, at 28 the compute capability, at 40 flags, and at 56
the size once decompressed.
"""

import struct
from dataclasses import dataclass
from typing import Iterator

from .elf import MAGIC, Unreadable

_CONTAINER, _ENTRY = struct.Struct("<IHHQ"), struct.Struct("<HHIQ")
_MAGIC_NUMBER = 0xBA55ED50
PTX, CUBIN = 1, 2
SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_LZ4_FLAG, _ZSTANDARD_FLAG = 0x2000, 0x8000
_LEAST_HEAD = 64
_MOST_BYTES = 1 << 31  # of a payload


@dataclass(frozen=True)
class _Entry:
    """A payload, decompressed; capability: 90 is 9.0."""

    kind: int
    capability: int
    payload: bytes


def _zstandard(data: bytes, size: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise Unreadable("its device code is compressed, which needs the Python package zstandard (Debian: python3-zstandard)") from None
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except zstandard.ZstdError as error:
        raise Unreadable(f"its device code cannot be decompressed: {error}") from None


def _lz4(data: bytes, size: int) -> bytes:
    try:
        import lz4.block
    except ImportError:
        raise Unreadable("its device code is compressed, which needs the Python package lz4 (Debian: python3-lz4)") from None
    try:
        return lz4.block.decompress(data, uncompressed_size=size)
    except (lz4.block.LZ4BlockError, ValueError) as error:
        raise Unreadable(f"its device code cannot be decompressed: {error}") from None


def _payload(head: bytes, data: bytes, kind: int) -> bytes:
    """The payload of an entry. Raises Unreadable for one that is neither plain nor of a known compression."""
    (packed,), (flags,), (size,) = (struct.unpack_from(form, head, at) for form, at in (("<I", 16), ("<Q", 40), ("<Q", 56)))
    if not size and not flags & (_LZ4_FLAG | _ZSTANDARD_FLAG):
        found = data
    elif not 0 < size <= _MOST_BYTES or not 0 < packed <= len(data):
        raise Unreadable("an entry of its device code has an impossible size")
    else:
        unpack = _zstandard if data.startswith(_ZSTANDARD) else _lz4
        found = unpack(data[:packed], size)
        if len(found) != size:
            raise Unreadable("its device code cannot be decompressed: it has another size")
    if kind == CUBIN and not found.startswith(MAGIC):
        raise Unreadable("an entry of its device code is not a cubin")
    return found


def _entries_of(data: bytes, at: int, end: int) -> Iterator[_Entry]:
    while at < end:
        if at + _LEAST_HEAD > end:
            raise Unreadable("its device code ends within an entry")
        kind, _, head, size = _ENTRY.unpack_from(data, at)
        if head < _LEAST_HEAD or at + head + size > end:
            raise Unreadable("its device code ends within an entry")
        if kind not in (PTX, CUBIN):
            raise Unreadable(f"its device code has an entry of the unknown kind {kind}")
        (capability,) = struct.unpack_from("<I", data, at + 28)
        yield _Entry(kind, capability, _payload(data[at : at + head], data[at + head : at + head + size], kind))
        at += head + size


def entries(data: bytes) -> Iterator[_Entry]:
    """The entries of all containers in a section. Raises Unreadable."""
    at = 0
    while at < len(data):
        if at + _CONTAINER.size > len(data):
            if any(data[at:]):
                raise Unreadable("its device code ends within a container")
            return
        magic, _, head, size = _CONTAINER.unpack_from(data, at)
        if magic != _MAGIC_NUMBER:
            if data[at : at + 8] != bytes(8):
                raise Unreadable("its device code has no known container")
            at += 8  # the linker aligns containers
            continue
        if head < _CONTAINER.size or at + head + size > len(data):
            raise Unreadable("its device code ends within a container")
        yield from _entries_of(data, at + head, at + head + size)
        at += head + size
