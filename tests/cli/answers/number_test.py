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
    """The bits of a number without a sign that a number above 0 rounds to; magnitudes(form) represents infinity."""
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
    """True if a format without a largest value would round to a value above it. A tie goes to an even one."""
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


def test_scales_of_mxfp8_round_up_to_a_power_of_two_and_have_no_sign():
    for value, code in ((1, 127), (1.0001, 128), (2**-127, 0), (1e-300, 0), (3, 129), (2.0**127, 254), (1e300, 254)):
        row = rows_of(repr(value), "--format", "ue8m0")["ue8m0"]
        assert (int(row["bits"], 16), row["decoded"], row["sign"], row["mantissa"]) == (code, 2.0 ** (code - 127), "", "")
        assert row["class"] == "normal" and row["decoding"] == f"1 x 2^({code} - 127)"
        assert row["outcome"] == ("exact" if row["decoded"] == value else "saturates" if value > 1e200 else "rounded")
    assert rows_of("0xff", "--format", "ue8m0")["ue8m0"]["class"] == "nan"
    assert list(rows_of("1")) == list(FORMATS), "scales are shown by their names only"


def test_scales_of_nvfp4_are_fp8_e4m3_without_a_sign():
    for value in ("0.3", "0", "448", "500", "0.001"):
        scale, number = rows_of(value, "--format", "ue4m3")["ue4m3"], rows_of(value)["fp8_e4m3"]
        assert scale["sign"] == "" and {**scale, "format": "fp8_e4m3", "sign": "0"} == number
    assert rows_of("0b0111_000", "--format", "ue4m3")["ue4m3"]["decoded"] == 1


def test_mxfp8_shows_its_element():
    assert rows_of("0.3", "--format", "mxfp8") == rows_of("0.3", "--format", "fp8_e4m3")


@pytest.mark.parametrize("name", ["fp4", "nvfp4", "mxfp4"])
def test_all_names_of_fp4_show_its_element(name):
    assert rows_of("0.3", "--format", name) == rows_of("0.3", "--format", "fp4_e2m1")


def test_a_negative_number_needs_no_dashes():
    assert rows_of("-6")["fp4_e2m1"]["decoded"] == -6


def test_the_decoding_of_the_lecture_is_shown():
    """0x3e200000: the bits 01111100 are 124, 124 - 127 is -3, and 1.25 x 2^-3 is 0.15625."""
    row = rows_of("0x3e200000")["fp32"]
    assert (row["bias"], row["power"], row["significand"], row["decoding"]) == (127, -3, 1.25, "1.25 x 2^(124 - 127)")
    shown = ridgebench("number", "0x3e200000").stdout
    assert "fp32      1.25 x 2^(124 - 127) = 1.25 x 2^-3\n" in shown
    assert "fp4_e2m1  -1.5 x 2^(3 - 1) = -1.5 x 2^2\n" in ridgebench("number", "0xf").stdout
    tiny = rows_of("-1e-7")["fp16"]
    assert (tiny["class"], tiny["decoding"]) == ("subnormal", "-0.001953125 x 2^(1 - 15)")
    assert rows_of("0")["bf16"]["decoding"] == "0 x 2^(1 - 127)"
    assert rows_of("1e39")["fp16"]["decoding"] is None and rows_of("1e39")["fp16"]["bias"] == 15


def test_every_decoding_is_the_value():
    rng = random.Random(5)
    for value in [rng.choice([-1, 1]) * 10 ** rng.uniform(-12, 5) for _ in range(20)]:
        for row in rows_of(repr(value)).values():
            if row["decoded"] is None:
                continue
            sign = -1 if row["sign"] == "1" else 1
            assert sign * row["significand"] * 2.0 ** row["power"] == row["decoded"]
            field = int(row["exponent"], 2)
            assert row["power"] == max(field, 1) - row["bias"]
            assert (row["significand"] >= 1) == (field > 0)


def share_below(bound: float, sigma: float) -> float:
    return math.erf(bound / sigma / math.sqrt(2))


@pytest.mark.parametrize(("sigma", "scale"), [(1e-7, 1024), (3e-9, 65536), (1000, 1), (2.0, 0.001)])
def test_shares_of_a_normal_distribution_are_those_of_its_integral(sigma, scale):
    reply = answer("number", "--histogram", f"normal:{sigma!r}", "--scale", str(scale))
    assert [row["format"] for row in reply["formats"]] == list(FORMATS) and reply["count"] is None
    for row in reply["formats"]:
        form = row["format"]
        _, mantissa, *_ = FORMATS[form]
        last = magnitudes(form) - 1
        largest = float(value_of(form, last))
        step = largest - float(value_of(form, last - 1))
        for key, factor in (("unscaled", 1), ("scaled", scale)):
            under = share_below(float(value_of(form, 1)) / 2 / factor, sigma)
            normal = share_below(float(value_of(form, 1 << mantissa)) / factor, sigma)
            over = 1 - share_below((largest + step / 2) / factor, sigma)
            assert row[key]["underflow"] == pytest.approx(under, rel=1e-9, abs=1e-300)
            assert row[key]["subnormal"] == pytest.approx(normal - under, rel=1e-6, abs=1e-12)
            assert row[key]["overflow"] == pytest.approx(over, rel=1e-6, abs=1e-12)
    assert sum(found["share"] for found in reply["bins"]) == pytest.approx(1, abs=1e-4)
    for found in reply["bins"]:
        edges = [share_below(2.0 ** (found["exponent"] + more), sigma) for more in (0, 1)]
        assert found["share"] == pytest.approx(edges[1] - edges[0], rel=1e-6)


def test_shares_of_a_file_are_counted_by_rounding_each_number(tmp_path):
    rng = random.Random(12)
    values = [rng.choice([-1, 1]) * 10 ** rng.uniform(-12, 6) for _ in range(400)]
    path = tmp_path / "gradients.txt"
    path.write_text("0, 0.0\n" + "\n".join(map(repr, values)) + "\t-0\n")
    reply = answer("number", "--histogram", path, "--scale", "1024")
    assert (reply["count"], reply["zeros"]) == (403, 3)
    for row in reply["formats"]:
        for key, factor in (("unscaled", 1.0), ("scaled", 1024.0)):
            found = [expected(row["format"], value * factor) for value in values]
            lost = sum(one["decoded"] is not None and one["decoded"] == 0 for one in found)
            over = sum(one["outcome"] in ("overflow", "saturates") for one in found)
            small = sum(
                one["decoded"] not in (None, 0) and int(one["exponent"], 2) == 0 and one["outcome"] != "saturates" for one in found
            )
            assert [row[key][name] * 400 for name in ("underflow", "subnormal", "overflow")] == pytest.approx([lost, small, over])
    for found in reply["bins"]:
        inside = sum(2.0 ** found["exponent"] <= abs(value) < 2.0 ** (found["exponent"] + 1) for value in values)
        assert found["share"] == inside / 400
    shown = ridgebench("number", "--histogram", path, "--scale", "1024", "--format", "fp16").stdout
    assert "403 numbers, 3 of them 0" in shown and "underflow x 1024" in shown and "#" in shown


def test_loss_scaling_saves_small_gradients():
    (half,) = answer("number", "--histogram", "normal:1e-8", "--scale", "1024", "--format", "fp16")["formats"]
    assert half["unscaled"]["underflow"] > 0.99 > 0.01 > half["scaled"]["underflow"]
    (wide,) = answer("number", "--histogram", "normal:1e-8", "--format", "bf16")["formats"]
    assert wide["unscaled"]["underflow"] < 1e-20


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--histogram", "normal:0"], ("normal:0", "allowed: normal: and a number above 0")),
        (["--histogram", "normal:x"], ("normal:x",)),
        (["--histogram", "none.txt"], ("none.txt",)),
        (["--histogram", "normal:1", "--scale", "0"], ("--scale is 0", "above 0")),
        (["--histogram", "normal:1", "--format", "int4"], ("--format is 'int4'",)),
        (["1", "--histogram", "normal:1"], ("a number or --histogram",)),
        (["1", "--scale", "1024"], ("--scale requires --histogram",)),
    ],
)
def test_malformed_histograms_are_refused(words, parts):
    refused(ridgebench("number", *words), *parts)


def test_a_file_without_numbers_is_refused(tmp_path):
    path = tmp_path / "log.txt"
    for text, part in (("1 2\nloss: 3", "line 2: 'loss:' is not a number"), ("", "every number is 0"), ("0 0", "every number is 0"),
                       ("1\0002", "line 1: '1?2' is not a number; allowed: a number")):  # fmt: skip
        path.write_text(text)
        refused(ridgebench("number", "--histogram", path), "log.txt", part)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["many"], ("'many' is not a number", "1e-8", "0b0_01100_0100000000")),
        (["nan"], ("'nan' is not a number",)),
        (["1e999"], ("'1e999' is not a number", "a double holds")),
        ([""], ("'' is not a number",)),
        (["0b"], ("fp32 (32)", "fp16 (16)")),
        (["0b012"], ("fp32 (32)",)),
        (["0b" + 5000 * "1"], ("111...' has other digits or too many bits",)),
        (["0b01"], ("has 2 bits", "fp16 (16)")),
        (["0x123456789"], ("fp32 (32)",)),
        (["0x1ff", "--format", "fp8"], ("fp8_e4m3 (8)",)),
        (["1", "--format", "int4"], ("--format is 'int4'", "fp32", "fp4_e2m1")),
        (["1", "--format", ""], ("names nothing",)),
        (["0", "--format", "ue8m0"], ("ue8m0 is a format of scales and has no 0; allowed: a number above 0",)),
        (["-1", "--format", "ue4m3"], ("ue4m3 is a format of scales and has no -1; allowed: a number from 0 on",)),
        (["--histogram", "normal:1", "--format", "ue8m0"], ("--format is 'ue8m0'; allowed: fp32",)),
        (["1", "2"], ("`ridgebench number --help`",)),
        ([], ("number is required", "`ridgebench number --help`")),
        (["\x1b[31m"], ("is not a number",)),
    ],
)
def test_what_is_no_number_is_refused(words, parts):
    refused(ridgebench("number", *words), *parts)
