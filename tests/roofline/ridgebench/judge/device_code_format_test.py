"""Containers of device code and texts of PTX, made up byte by byte: what is read, and what is refused."""

import struct
import sys

import pytest
from ridgebench.base.files import ResultsError
from ridgebench.judge.code.elf import Unreadable
from ridgebench.judge.code.fatbin import CUBIN, PTX, entries
from ridgebench.judge.code.names import plain, readable
from ridgebench.judge.code.ptx import read_ptx

ENTRY_HEAD, MAGIC, VERSION = 64, 0xBA55ED50, 1
TEXT = b".version 9.0\n.target sm_90\n.visible .entry one() { ret; }\n"


def entry(payload: bytes, *, kind=PTX, capability=90, packed=0, size=0, flags=0x11, head=ENTRY_HEAD) -> bytes:
    data = bytearray(head)
    struct.pack_into("<HHIQ", data, 0, kind, 0x101, head, len(payload))
    struct.pack_into("<I", data, 16, packed)
    struct.pack_into("<I", data, 28, capability)
    struct.pack_into("<Q", data, 40, flags)
    struct.pack_into("<Q", data, 56, size)
    return bytes(data) + payload


def container(*parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack("<IHHQ", MAGIC, VERSION, 16, len(body)) + body


def payloads(data: bytes) -> list[tuple[int, int, bytes]]:
    return [(one.kind, one.capability, one.payload) for one in entries(data)]


def test_containers_follow_each_other_with_zeros_between():
    data = container(entry(TEXT), entry(TEXT + b"//", capability=80, head=80)) + bytes(8) + container(entry(b"\x7fELFx", kind=CUBIN)) + bytes(3)
    assert payloads(data) == [(PTX, 90, TEXT), (PTX, 80, TEXT + b"//"), (CUBIN, 90, b"\x7fELFx")]
    assert payloads(b"") == []


def test_zstandard():
    packed = pytest.importorskip("zstandard").ZstdCompressor(write_content_size=False).compress(TEXT)
    data = container(entry(packed + bytes(5), packed=len(packed), size=len(TEXT), flags=0x8011))
    assert payloads(data) == [(PTX, 90, TEXT)]


def test_lz4():
    packed = pytest.importorskip("lz4.block").compress(TEXT, store_size=False)
    data = container(entry(packed + bytes(3), packed=len(packed), size=len(TEXT), flags=0x2011))
    assert payloads(data) == [(PTX, 90, TEXT)]


@pytest.mark.parametrize("package, start", [("zstandard", b"\x28\xb5\x2f\xfd"), ("lz4.block", b"\xf0abc")])
def test_a_missing_package_is_named(package, start, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Unreadable, match=f"needs the Python package {package.partition('.')[0]} \\(Debian: python3-"):
        payloads(container(entry(start, packed=4, size=9, flags=0x8011)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\1" * 24, "no known container"),
        (container(entry(TEXT))[:-1], "ends within a container"),
        (struct.pack("<IHHQ", MAGIC, 1, 8, 0) + bytes(8), "ends within a container"),
        (container(entry(TEXT)[:40]), "ends within an entry"),
        (container(entry(TEXT, kind=7)), "unknown kind 7"),
        (container(entry(TEXT, kind=CUBIN)), "not a cubin"),
        (container(entry(TEXT, packed=999, size=10, flags=0x8011)), "impossible size"),
        (container(entry(TEXT, packed=4, size=1 << 40, flags=0x8011)), "impossible size"),
        (container(entry(TEXT, packed=4, flags=0x8011)), "impossible size"),
        (container(entry(b"\x28\xb5\x2f\xfdxxxx", packed=8, size=10, flags=0x8011)), "cannot be decompressed"),
    ],
)
def test_what_is_malformed_is_named(data, said):
    pytest.importorskip("zstandard")
    with pytest.raises(Unreadable, match=said):
        payloads(data)


def digests(text: str) -> dict[str, str]:
    return {name: piece.digest for name, (piece,) in read_ptx(text.encode(), "x").pieces.items()}


PTX_TEXT = """
.version 9.0
.target sm_90
.global .align 4 .b8 table[4] = {1, 2, 3, 4};
.func (.param .b32 r) helper(.param .b32 x);
.visible .entry one(.param .u64 a)
.maxntid 64, 1, 1
{
 .loc 1 3 4
 // a comment
 $L__BB0_1: bra $L__BB0_1; call (r), helper, (x); }
.visible .entry two(.param .u64 a) { .local .b8 __local_depot1[8]; { ret; } $L__BB1_2: ret; }
.func (.param .b32 r) helper(.param .b32 x) { ret; }
"""


def test_functions_of_ptx():
    found = read_ptx(PTX_TEXT.encode() + b"\0", "x")
    assert found.kernels == {"one", "two"} and set(found.pieces) == {"one", "two", "helper"}
    assert found.pieces["one"][0].calls == {"helper"} and found.pieces["two"][0].calls == frozenset()


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (" // a comment\n", "", set()),
        (".loc 1 3 4", ".loc 1 99 4", set()),
        (".version 9.0", ".section .debug_str\n{\n.b8 95,90\n}\n.version 9.0", set()),
        ("$L__BB1_2", "$L__BB7_2", set()),
        ("__local_depot1", "__local_depot9", set()),
        ("{ ret; } $L", "{ exit; } $L", {"two"}),
        (".maxntid 64", ".maxntid 32", {"one"}),
        ("{1, 2, 3, 4}", "{1, 2, 3, 5}", {"one", "two", "helper"}),
        ("sm_90", "sm_90a", {"one", "two", "helper"}),
    ],
)
def test_what_changes_a_function_of_ptx(old, new, changed):
    assert old in PTX_TEXT
    one, other = digests(PTX_TEXT), digests(PTX_TEXT.replace(old, new))
    assert {name for name in one if one[name] != other[name]} == changed


@pytest.mark.parametrize("text", [".visible .entry one() { ret;", ".visible .entry one()"])
def test_ptx_that_ends_within_a_function_is_refused(text):
    with pytest.raises(ResultsError, match="malformed PTX: one has no end"):
        read_ptx(text.encode(), "x")


def test_names_without_the_hash_of_their_file():
    name = "_ZN36_GLOBAL__N__d7b78012_4_z_cu_e0f598cf6hiddenEPi"
    assert plain(name) == plain(name.replace("d7b78012", "00000000")) == "_ZN12_GLOBAL__N_16hiddenEPi"
    assert readable(plain(name)) == "(anonymous namespace)::hidden(int*)"
    assert plain("_ZN34_INTERNAL_d7b78012_4_z_cu_e0f598cf7counterE") == "_ZN9_INTERNAL7counterE"
    assert plain("_Z5otheri") == "_Z5otheri" and readable("main") == "main"
