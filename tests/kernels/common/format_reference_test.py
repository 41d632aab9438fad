"""Conversions of kernels/common/format.hpp against numpy (fp16) and ml_dtypes (bf16, fp8).

They agree bit for bit but for two stated differences: what overflow of fp8 gives, and the payload
of a NaN. The program that converts is named by the environment variable RIDGEBENCH_FORMAT_DUMP.
"""

import os
import subprocess

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:(invalid|overflow).* encountered in cast")

# Name here, the other implementation, our NaN without its sign.
FORMATS = {
    "fp16": (np.float16, 0x7E00),
    "bf16": (ml_dtypes.bfloat16, 0x7FC0),
    "fp8_e4m3": (ml_dtypes.float8_e4m3fn, 0x7F),
    "fp8_e5m2": (ml_dtypes.float8_e5m2, 0x7E),
}
# fp8: the largest code, and the magnitude from which ml_dtypes gives NaN or infinity. It is half a
# step beyond the largest number; the tie itself goes to the even neighbour, 448 but not 57344.
SATURATION = {
    "fp8_e4m3": (0x7E, np.nextafter(np.float32(464), np.float32(np.inf))),
    "fp8_e5m2": (0x7B, np.float32(61440)),
}


def convert(direction, name, words):
    program = os.environ["RIDGEBENCH_FORMAT_DUMP"]
    result = subprocess.run([program, direction, name], input=words.tobytes(), capture_output=True,
                            check=True)
    return np.frombuffer(result.stdout, dtype=np.uint32)


def unsigned(dtype):
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def all_codes(dtype):
    return np.arange(2 ** (8 * np.dtype(dtype).itemsize)).astype(unsigned(dtype))


def patterns():
    """Every upper half of a float with lower halves at and around ties, and random floats."""
    upper = np.arange(2**16, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x2000, 0x7FFF, 0x8000, 0x8001, 0xFFFF],
                     dtype=np.uint32)
    random = np.random.default_rng(20).integers(0, 2**32, 1_000_000, dtype=np.uint32)
    return np.concatenate([(upper[:, None] | lower).ravel(), random])


def boundaries(dtype):
    """Each number of the format, the middle to its neighbour, and the floats beside both."""
    numbers = all_codes(dtype).view(dtype).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    last_step = numbers[-1] - numbers[-2]
    middles = np.append((numbers[1:] + numbers[:-1]) / 2, numbers[-1] + last_step / 2)
    exact = np.concatenate([numbers, middles, -middles]).astype(np.float32)
    infinity = np.float32(np.inf)
    return np.concatenate([exact, np.nextafter(exact, infinity), np.nextafter(exact, -infinity)])


@pytest.fixture(params=FORMATS)
def encoded(request):
    """Floats with no NaN among them, our bits and the other implementation's."""
    name = request.param
    dtype, _ = FORMATS[name]
    floats = np.concatenate([patterns().view(np.float32), boundaries(dtype)])
    floats = floats[~np.isnan(floats)]
    other = floats.astype(dtype).view(unsigned(dtype))
    return name, floats, convert("encode", name, floats), other


def saturates(name, floats):
    """Where fp8 saturates here and overflows in ml_dtypes."""
    limit = SATURATION[name][1] if name in SATURATION else None
    return np.abs(floats) >= limit if limit else np.zeros(len(floats), dtype=bool)


def test_encode_agrees_where_nothing_saturates(encoded):
    name, floats, ours, other = encoded
    same = ~saturates(name, floats)
    np.testing.assert_array_equal(ours[same], other[same])


@pytest.mark.parametrize("encoded", SATURATION, indirect=True)
def test_fp8_saturates_where_ml_dtypes_overflows(encoded):
    name, floats, ours, other = encoded
    dtype, _ = FORMATS[name]
    beyond = saturates(name, floats)
    largest = SATURATION[name][0]
    np.testing.assert_array_equal(ours[beyond], largest | np.where(floats[beyond] < 0, 0x80, 0))
    theirs = other.view(dtype).astype(np.float32)
    overflowed = np.isnan(theirs) if name == "fp8_e4m3" else np.isinf(theirs)
    np.testing.assert_array_equal(overflowed, beyond)


@pytest.mark.parametrize("name", FORMATS)
def test_every_nan_becomes_the_canonical_one_with_its_sign(name):
    # numpy keeps the upper bits of the payload instead; only that both are NaN can agree.
    dtype, canonical = FORMATS[name]
    raw = patterns()
    nans = raw[np.isnan(raw.view(np.float32))]
    ours = convert("encode", name, nans)
    sign = 1 << (8 * np.dtype(dtype).itemsize - 1)
    np.testing.assert_array_equal(ours, canonical | np.where(nans >> 31, sign, 0))
    assert np.isnan(ours.astype(unsigned(dtype)).view(dtype).astype(np.float32)).all()
    assert np.isnan(nans.view(np.float32).astype(dtype).astype(np.float32)).all()


@pytest.mark.parametrize("name", FORMATS)
def test_decode_agrees_for_every_code(name):
    dtype, _ = FORMATS[name]
    codes = all_codes(dtype)
    ours = convert("decode", name, codes.astype(np.uint32)).view(np.float32)
    other = codes.view(dtype).astype(np.float32)
    np.testing.assert_array_equal(ours, other)  # NaN equals NaN here
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(other))


def test_tf32_agrees_with_integer_rounding():
    """No library has tf32: adding half a step to the bits of a float rounds ties away."""
    floats = patterns().view(np.float32)
    floats = floats[np.isfinite(floats)]
    rounded = (floats.view(np.uint32) + np.uint32(0x1000)) >> 13
    np.testing.assert_array_equal(convert("encode", "tf32", floats), rounded)
