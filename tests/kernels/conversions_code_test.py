"""Conversions and special functions of the kernels that stream through memory, counted in the machine code of compute
capability 9.0. The published ceilings turn the counts into shares of the memory's time, which docs/kernel_models.md
has as a table."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import pytest
from cubins import Kernel
from golden import ROOT, read_records
from machine_code import kernels, needs_cuda
from sass import ZERO_REGISTER, Instruction, innermost_loop, instructions_of, wide_accesses

pytestmark = needs_cuda

CAPABILITY = 90
RUNS = {"H100": "nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5", "H200": "nvidia-h200/2026-11-22-7f6e7b5"}
FORMATS = {None: "fp32", "2": "fp16", "3": "bf16", "4": "fp8_e4m3", "5": "fp8_e5m2"}  # by the number in mangled names
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1}
FROM_FP8_AT = 74  # of F2FP: set where its source is fp8
NOT_ROWS = "–"
BY_BLOCK, BY_WARP = "matvec/row_per_block", "matvec/row_per_warp"
COUNTED = ("F2FP", "HADD2.F32", "PRMT", "MUFU")
SHARES = ("conversions: H100", "H200", "special functions: H100", "H200")
HEADER = ("operation", "technique", "rows at once", "format", *COUNTED, *SHARES)
PAGE = ROOT / "docs" / "kernel_models.md"
OPENING, CLOSING = "<!-- table: kernel models conversions -->\n", "<!-- /table -->"


def kind(instruction: Instruction) -> str:
    """The name of an instruction. F2FP from fp8 has a name of its own here. HADD2 has .F32 where it widens: it then adds
    its source to zero."""
    if instruction.name == "F2FP" and instruction.bits(FROM_FP8_AT, 1):
        return "F2FP from fp8"
    if instruction.name == "HADD2" and instruction.bits(24, 8) == ZERO_REGISTER:
        return "HADD2.F32"
    return instruction.name


def tally(body: list[Instruction]) -> Counter:
    return Counter(kind(instruction) for instruction in body)


def format_of(kernel: Kernel) -> str:
    found = re.search(r"FormatE(\d)E", kernel.name)
    return FORMATS[found and found[1]]


@lru_cache(maxsize=None)
def kernel_of(source: str, part: str, number: str) -> Kernel:
    """The one kernel of a file with `part` in its name and numbers of this format."""
    (found,) = (k for k in kernels(source, part) if k.capability == CAPABILITY and format_of(k) == number)
    return found


@dataclass(frozen=True)
class Row:
    label: str
    number: str  # format
    at_once: str  # rows of A that share the conversions of x
    counts: Counter  # of a number that the kernel reads from memory
    memory: str  # ceiling
    bytes: int  # of such a number, with what is written for it

    @property
    def widened(self) -> float:
        """Conversions to a wider format. Where fp8 takes two steps to fp32, they are one conversion."""
        return max(2 * self.counts["F2FP from fp8"], self.counts["HADD2.F32"])

    @property
    def widening_ceiling(self) -> tuple[str, str]:
        """The ceiling whose loop has the same instructions: PRMT makes fp16 of fp8_e5m2."""
        return "convert_widen", self.number if self.counts["F2FP from fp8"] else "fp16"

    @property
    def narrowed(self) -> float:
        return 2 * self.counts["F2FP"]

    def printed(self, name: str) -> float:
        return self.counts[name] + (self.counts["F2FP from fp8"] if name == "F2FP" else 0)


def each(counts: Counter, numbers: int) -> Counter:
    return Counter({name: count / numbers for name, count in counts.items()})


def streamed(label: str, number: str) -> Row:
    """A kernel with one result for a number: what lies between the load of a vector of 16 bytes and its store."""
    body = instructions_of(kernel_of(f"{label}.cu", "ILi256E", number))
    load, store = wide_accesses(body)
    counts = each(tally(body[load:store]), 16 // BYTES[number])
    return Row(label, number, NOT_ROWS, counts, "dram_copy", 2 * BYTES[number])


def summed(label: str, number: str, at_once: str, part: str = "", operands: int = 1) -> Row:
    """A kernel that adds up products: the loop over four vectors of each operand that comes from memory."""
    body = instructions_of(kernel_of(f"{label}.cu", part, number))
    counts = tally(innermost_loop(body, "FFMA", 4 * 16 // BYTES[number]))
    return Row(label, number, at_once, each(counts, operands * counts["FFMA"]), "dram_read", BYTES[number])


@lru_cache(maxsize=None)
def rows() -> list[Row]:
    found = [streamed(label, number) for label in ("relu/vec16", "gelu/vec16") for number in BYTES]
    found += [summed("dot/one_pass", number, NOT_ROWS, operands=2) for number in BYTES]
    found += [summed(BY_BLOCK, number, "1", "ILi256ELi1E") for number in BYTES]
    found += [summed(BY_WARP, number, "1", "ILi1E") for number in BYTES]
    found += [summed(BY_WARP, number, "4", "ILi4E") for number in BYTES]
    return found + [summed(BY_BLOCK, number, "4", "ILi256ELi4E") for number in BYTES if BYTES[number] == 1]


@lru_cache(maxsize=None)
def records(device: str) -> list[dict]:
    return read_records(ROOT / "results" / RUNS[device])


def ceiling(device: str, operation: str, number: str, key: str) -> float:
    """What the record of a ceiling holds in a published run."""
    (found,) = (r for r in records(device) if (r["op"], r["format"], r["role"]) == (operation, number, "ceiling"))
    return found[key]


def numbers_per_s(row: Row, device: str) -> float:
    """The numbers that the memory delivers at the rate of its ceiling."""
    return ceiling(device, row.memory, "fp32", "bytes_per_s") / row.bytes


def share_of_conversions(row: Row, device: str) -> float:
    seconds = 0.0
    if row.widened:
        seconds += row.widened / ceiling(device, *row.widening_ceiling, "flops_per_s")
    if row.narrowed:
        seconds += row.narrowed / ceiling(device, "convert_narrow", row.number, "flops_per_s")
    return numbers_per_s(row, device) * seconds


def share_of_functions(row: Row, device: str) -> float:
    function = "sfu_exp2" if row.number == "fp32" else "sfu_tanh"
    return numbers_per_s(row, device) * row.counts["MUFU"] / ceiling(device, function, "fp32", "flops_per_s")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share else "–"


def cells(row: Row) -> list[str]:
    counts = [f"{row.printed(name):.3g}" for name in COUNTED]
    shares = [percent(share(row, device)) for share in (share_of_conversions, share_of_functions) for device in RUNS]
    return [row.at_once, row.number, *counts, *shares]


def table() -> str:
    """A line for each row that converts or computes a function. Techniques with the same cells share a line."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows():
        operation, technique = row.label.split("/")
        if any(row.printed(name) for name in COUNTED):
            lines.setdefault((operation, *cells(row)), []).append(f"`{technique}`")
    body = [HEADER, ["---"] * len(HEADER)]
    body += [[operation, ", ".join(sorted(found)), *line] for (operation, *line), found in lines.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in body)


def test_the_page_has_the_table():
    page = PAGE.read_text("utf-8")
    shown = page[page.index(OPENING) + len(OPENING) :].split(CLOSING, 1)[0]
    assert shown == table(), f"the table is now\n{table()}"


def ceiling_loop(operation: str, number: str, name: str, count: int) -> Counter:
    body = instructions_of(kernel_of("ceilings/convert.cu", operation, number))
    return tally(innermost_loop(body, name, count))


@pytest.mark.parametrize("number", ["fp16", "fp8_e4m3"])
def test_the_widening_ceiling_counts_numbers_and_has_the_instructions_of_the_kernels(number):
    loop = ceiling_loop("convert_widen", number, "HADD2", 32)
    assert loop["HADD2.F32"] == 32, "conversions of a turn, as convert.hpp counts them"
    assert loop["F2FP from fp8"] == (16 if number == "fp8_e4m3" else 0)


@pytest.mark.parametrize("number", [number for number in BYTES if number != "fp32"])
def test_the_narrowing_ceiling_counts_two_numbers_for_an_instruction(number):
    loop = ceiling_loop("convert_narrow", number, "F2FP", 12)
    assert 2 * loop["F2FP"] == 24, "conversions of a turn, as convert.hpp counts them"
    assert loop["F2FP from fp8"] == 0


def test_relu_and_sums_in_fp32_convert_nothing():
    idle = [row for row in rows() if not any(row.printed(name) for name in COUNTED)]
    assert [row.label for row in idle if row.number != "fp32"] == 4 * ["relu/vec16"]
    in_fp32 = [row.label for row in idle if row.number == "fp32"]
    assert in_fp32 == ["relu/vec16", "dot/one_pass", BY_BLOCK, BY_WARP, BY_WARP]


def text_of_page() -> str:
    return " ".join(PAGE.read_text("utf-8").split())


def test_no_row_is_bound_and_the_page_names_the_closest():
    shares = [(share_of_conversions(row, device), row, device) for row in rows() for device in RUNS]
    assert all(share + share_of_functions(row, device) < 1 for share, row, device in shares)
    most, row, device = max(shares, key=lambda found: found[0])
    assert (row.number, row.at_once, device) == ("fp8_e4m3", "1", "H200")
    assert f"comes closest, with {percent(most)} on an H200" in text_of_page()


def test_the_page_compares_the_published_row_with_the_ceiling_at_its_clock():
    (record,) = (r for r in records("H200") if r["id"].startswith(f"{BY_BLOCK}/fp8_e4m3/"))
    (row,) = (r for r in rows() if (r.label, r.number, r.at_once) == (BY_BLOCK, "fp8_e4m3", "1"))
    slower = record["clock_hz"] / ceiling("H200", *row.widening_ceiling, "clock_hz")
    allowed = percent(slower / share_of_conversions(row, "H200"))
    measured = percent(record["fraction_of_measured_roof"])
    clock = f"{record['clock_hz'] / 1e9:.2f} GHz"
    assert f"at {clock}: there, conversions allow {allowed} of the read ceiling" in text_of_page()
    assert f"of the read ceiling, and {measured} were measured." in text_of_page()
