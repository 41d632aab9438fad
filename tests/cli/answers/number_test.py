"""`number` rounds to every format and decodes bits as exact fractions say."""

import functools
import math
import random
from fractions import Fraction

import pytest
from command_line import OK, answer, refused, ridgebench, strict_json
from many_calls import answers

# name -> exponent bits, mantissa bits, infinity and NaN take the top exponent, overflow saturates, ties go away from 0
FORMATS = {
    "fp32": (8, 23, True, False, False),
    "tf32": (8, 10, True, False, True),
    "fp16": (5, 10, True, False, False),
    "bf16": (8, 7, True, False, False),
    "fp8_e4m3": (4, 3, False, True, False),
    "fp8_e5m2": (5, 2, True, True, False),
    "fp4_e2m1": (2, 1, False, True, False),
}


def magnitudes(form: str) -> int:
    """How many finite values without a sign there are; they are in the order of their bits."""
    exponent, mantissa, infinity, *_ = FORMATS[form]
    top = (1 << exponent) - 1 if infinity else 1 << exponent
    nan = 1 if form == "fp8_e4m3" else 0
    return (top << mantissa) - nan


@functools.cache
def value_of(form: str, bits: int) -> Fraction:
    """The value of the bits of a finite number without a sign."""
    exponent, mantissa, *_ = FORMATS[form]
    field, rest = bits >> mantissa, bits & ((1 << mantissa) - 1)
    bias = (1 << (exponent - 1)) - 1
    scale = Fraction(2) ** (max(field, 1) - bias - mantissa)
    return (rest + (1 << mantissa if field else 0)) * scale


def rounded(form: str, value: Fraction) -> int:
    """The bits of a number without a sign that a number above 0 rounds to; magnitudes(form) stands for infinity."""
    *_, saturates, away = FORMATS[form]
    count = magnitudes(form)
    low, high = 0, count  # value_of(low) <= value < value_of(high), and beyond the last value is one more step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value_of(form, middle) <= value else (low, middle)
    step = value_of(form, high) if high < count else 2 * value_of(form, low) - value_of(form, low - 1)
    half = (value_of(form, low) + step) / 2
    up = value > half or (value == half and (away or low % 2 == 1))
    found = low + 1 if up else low
    return min(found, count - 1) if saturates else found


def beyond_all_rounding(form: str, value: Fraction, tie: Fraction) -> bool:
    """Whether a format without a largest value would round to a value above it. A tie goes to an even one."""
    return value > tie or (value == tie and magnitudes(form) % 2 == 0)  # the last bits are odd


def expected(form: str, value: float) -> dict:
    exponent, mantissa, *_ = FORMATS[form]
    bits = rounded(form, abs(Fraction(value))) if value else 0
    infinite = bits == magnitudes(form)
    decoded = math.copysign(math.inf if infinite else float(value_of(form, bits)), value)
    digits = f"{(math.copysign(1, value) < 0) << (exponent + mantissa) | bits:0{1 + exponent + mantissa}b}"
    reply = {
        "sign": digits[0],
        "exponent": digits[1 : 1 + exponent],
        "mantissa": digits[1 + exponent :],
        "decoded": None if infinite else decoded,
    }
    if infinite:
        reply["outcome"] = "overflow"
    elif decoded == value:
        reply["outcome"] = "exact"
    elif decoded == 0:
        reply["outcome"] = "underflow"
    else:
        last = value_of(form, magnitudes(form) - 1)
        step = last - value_of(form, magnitudes(form) - 2)
        reply["outcome"] = "saturates" if beyond_all_rounding(form, abs(Fraction(value)), last + step / 2) else "rounded"
    return reply


def some_values() -> list[float]:
    """Values of each format, the middles between neighbours, and what is a little beside a middle."""
    rng = random.Random(42)
    values = [0.0, -0.0, 1e-8, 0.15625, 65504, 65520, 448, 464, 480, 57344, 61440, 6, 7, -1e-30, 1e39, 5e-324, 1.7e308]
    for form in FORMATS:
        count = magnitudes(form)
        for _ in range(12):
            low = rng.randrange(count - 1)
            middle = float((value_of(form, low) + value_of(form, low + 1)) / 2)
            values += [middle, math.nextafter(middle, 0), -math.nextafter(middle, 1e300), float(value_of(form, low))]
    values += [rng.choice([-1, 1]) * 10 ** rng.uniform(-45, 40) for _ in range(100)]
    return values


def test_numbers_are_rounded_as_exact_fractions_say():
    values = some_values()
    replies = answers([["number", "--json", "--", repr(value)] for value in values])
    outcomes = set()
    for value, (code, text) in zip(values, replies, strict=True):
        assert code == OK, text
        reply = strict_json(text)
        assert reply["value"] == value
        assert [row["format"] for row in reply["formats"]] == list(FORMATS)
        for row in reply["formats"]:
            wanted = expected(row["format"], value)
            assert {key: row[key] for key in wanted} == wanted, (value, row)
            outcomes.add(row["outcome"])
            if value and row["decoded"] is not None:
                error = (Fraction(row["decoded"]) - Fraction(value)) / Fraction(value)
                assert row["relative_error"] is None or row["relative_error"] == pytest.approx(float(error), rel=1e-9)
    assert outcomes == {"exact", "rounded", "underflow", "overflow", "saturates"}


def test_every_code_of_a_narrow_format_decodes_and_comes_back():
    for form in ("fp8_e4m3", "fp8_e5m2", "fp4_e2m1"):
        exponent, mantissa, *_ = FORMATS[form]
        width = 1 + exponent + mantissa
        codes = range(1 << width)
        replies = answers([["number", f"0b{code:0{width}b}", "--format", form, "--json"] for code in codes])
        back = {}
        for code, (status, text) in zip(codes, replies, strict=True):
            assert status == OK, text
            (row,) = strict_json(text)["formats"]
            magnitude = code & ((1 << (width - 1)) - 1)
            if magnitude >= magnitudes(form):
                assert row["decoded"] is None and row["class"] in ("infinity", "nan")
                continue
            assert abs(row["decoded"]) == value_of(form, magnitude)
            assert (row["sign"] == "1") == (code != magnitude)
            back[code] = row["decoded"]
        replies = answers([["number", "--format", form, "--json", "--", repr(value)] for value in back.values()])
        for code, (_, text) in zip(back, replies, strict=True):
            assert int(strict_json(text)["formats"][0]["bits"], 16) == code


def rows_of(*words: str) -> dict[str, dict]:
    return {row["format"]: row for row in answer("number", *words)["formats"]}


def test_1e_8_is_lost_in_fp16_and_survives_in_bf16():
    rows = rows_of("1e-8")
    assert rows["fp16"]["outcome"] == "underflow" and rows["fp16"]["decoded"] == 0
    assert rows["bf16"]["outcome"] == "rounded" and abs(rows["bf16"]["relative_error"]) < 2**-8
    shown = ridgebench("number", "1e-8").stdout
    assert "It underflows to 0 in fp16, fp8_e4m3, fp8_e5m2, fp4_e2m1" in shown
    assert "It survives in fp32, tf32, bf16" in shown


def test_0_15625_has_the_bits_of_the_lecture():
    row = rows_of("0.15625")["fp32"]
    assert (row["sign"], row["exponent"], row["mantissa"]) == ("0", "01111100", "01" + 21 * "0")
    assert (row["exact"], row["outcome"]) == ("5 x 2^-5", "exact")


def test_bits_select_the_formats_of_their_width():
    assert list(rows_of("0x3e200000")) == ["fp32"]
    assert rows_of("0x3e200000")["fp32"]["decoded"] == 0.15625
    assert list(rows_of("0b0_01100_0100000000")) == ["fp16", "bf16"]
    row = rows_of("0b0_01100_0100000000", "--format", "fp16")["fp16"]
    assert (row["decoded"], row["outcome"]) == (0.15625, None)
    assert list(rows_of("0x7e")) == ["fp8_e4m3", "fp8_e5m2"]
    assert rows_of("0x7e", "--format", "fp8")["fp8_e4m3"]["decoded"] == 448


def test_a_tie_that_rounds_to_the_largest_value_is_no_overflow():
    assert [rows_of(value)["fp8_e4m3"]["outcome"] for value in ("449", "464", "464.01", "480")] == [
        "rounded", "rounded", "saturates", "saturates",
    ]  # fmt: skip
    assert rows_of("7")["fp4_e2m1"]["outcome"] == "saturates" and rows_of("61440")["fp8_e5m2"]["outcome"] != "rounded"
    assert "fp8_e4m3" in ridgebench("number", "464").stdout.split("It survives in")[1]


@pytest.mark.parametrize("name", ["fp4", "nvfp4", "mxfp4"])
def test_all_names_of_fp4_show_its_element(name):
    assert rows_of("0.3", "--format", name) == rows_of("0.3", "--format", "fp4_e2m1")


def test_a_negative_number_needs_no_dashes():
    assert rows_of("-6")["fp4_e2m1"]["decoded"] == -6


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["many"], ("'many' is no number", "1e-8", "0b0_01100_0100000000")),
        (["nan"], ("'nan' is no number",)),
        (["1e999"], ("'1e999' is no number", "a double holds")),
        ([""], ("'' is no number",)),
        (["0b"], ("fp32 (32)", "fp16 (16)")),
        (["0b012"], ("fp32 (32)",)),
        (["0b" + 5000 * "1"], ("111...' has other digits or too many bits",)),
        (["0b01"], ("has 2 bits", "fp16 (16)")),
        (["0x123456789"], ("fp32 (32)",)),
        (["0x1ff", "--format", "fp8"], ("fp8_e4m3 (8)",)),
        (["1", "--format", "int4"], ("--format is 'int4'", "fp32", "fp4_e2m1")),
        (["1", "--format", ""], ("names nothing",)),
        (["1", "2"], ("`ridgebench number --help`",)),
        ([], ("number is required", "`ridgebench number --help`")),
        (["\x1b[31m"], ("is no number",)),
    ],
)
def test_what_is_no_number_is_refused(words, parts):
    refused(ridgebench("number", *words), *parts)
