#include "kernels/common/format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace ridgebench {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class EveryFormat : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] static const FormatInfo& format() { return info(GetParam()); }
  [[nodiscard]] static std::uint32_t encode(float x) { return encode_bits(format(), x); }
  [[nodiscard]] static float decode(std::uint32_t bits) { return decode_bits(format(), bits); }
  [[nodiscard]] static std::uint32_t sign_bit() { return 1U << (format().bits() - 1); }
  // Positive codes below infinity and NaN are 0 .. largest(), in the order of their values.
  [[nodiscard]] static std::uint32_t largest() {
    return encode(static_cast<float>(format().max_finite()));
  }
};

std::string label(const testing::TestParamInfo<Format>& test) {
  return std::string(info(test.param).name);
}

INSTANTIATE_TEST_SUITE_P(Format, EveryFormat,
                         testing::Values(Format::fp32, Format::tf32, Format::fp16, Format::bf16,
                                         Format::fp8_e4m3, Format::fp8_e5m2, Format::tf32x3),
                         label);
// Those with few enough codes to try them all.
class SmallFormat : public EveryFormat {};
INSTANTIATE_TEST_SUITE_P(Format, SmallFormat,
                         testing::Values(Format::tf32, Format::fp16, Format::bf16, Format::fp8_e4m3,
                                         Format::fp8_e5m2),
                         label);

TEST(FormatTable, ListsEachFormatAtItsOwnPlace) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kFormats.at(i).format), i) << kFormats.at(i).name;
  }
}

// cvt.rp.satfinite.ue8m0x2: to the next power of two above the magnitude.
TEST(Scales, OfUe8m0ArePowersOfTwoAndRoundUp) {
  for (std::uint32_t code = 0; code < 255; ++code) {
    const float power = std::ldexp(1.0F, static_cast<int>(code) - 127);
    EXPECT_EQ(decode(Ue8m0{static_cast<std::uint8_t>(code)}), power);
    EXPECT_EQ(encode<Ue8m0>(power).bits, code);
    EXPECT_EQ(encode<Ue8m0>(-power).bits, code);
    EXPECT_EQ(encode<Ue8m0>(std::nextafter(power, 0.0F)).bits, code);
    EXPECT_EQ(encode<Ue8m0>(std::nextafter(power, kInfinity)).bits, std::min(code + 1, 254U));
  }
  EXPECT_EQ(encode<Ue8m0>(0).bits, 0);
  EXPECT_EQ(encode<Ue8m0>(kInfinity).bits, 254);
  EXPECT_EQ(encode<Ue8m0>(NAN).bits, 255);
  EXPECT_TRUE(std::isnan(decode(Ue8m0{255})));
  EXPECT_EQ(info(Format::ue8m0).max_finite(), 0x1p127);
  EXPECT_EQ(info(Format::ue8m0).bits(), 8);
}

// cvt.rn.satfinite.e2m1x2. Ties go to the even code.
TEST(Fp4, RoundsToTheNearestOfItsFifteenNumbers) {
  constexpr std::array<float, 8> kNumbers{0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const FormatInfo& fp4 = info(Format::fp4_e2m1);
  for (std::uint32_t code = 0; code < kNumbers.size(); ++code) {
    const float number = kNumbers.at(code);
    EXPECT_EQ(decode_bits(fp4, code), number);
    EXPECT_EQ(decode_bits(fp4, code | 8U), -number);
    EXPECT_EQ(encode_bits(fp4, number), code);
    EXPECT_EQ(encode_bits(fp4, -number), code | 8U);
    if (code == 0) continue;
    const float middle = (number + kNumbers.at(code - 1)) / 2;
    EXPECT_EQ(encode_bits(fp4, middle), code % 2 == 0 ? code : code - 1);
    EXPECT_EQ(encode_bits(fp4, std::nextafter(middle, kInfinity)), code);
    EXPECT_EQ(encode_bits(fp4, std::nextafter(middle, 0.0F)), code - 1);
  }
  EXPECT_EQ(encode_bits(fp4, 7), 7);
  EXPECT_EQ(encode_bits(fp4, -kInfinity), 15);
  EXPECT_EQ(encode_bits(fp4, -NAN), 7);
  EXPECT_EQ(fp4.max_finite(), 6);
  EXPECT_EQ(fp4.min_normal(), 1);
  EXPECT_EQ(fp4.min_subnormal(), 0.5);
  EXPECT_EQ(fp4.bits(), 4);
}

TEST(Fp4, HasTwoNumbersInAByteTheFirstInTheLowHalf) {
  constexpr std::array kPairs{Fp4Pair{0xf1}, Fp4Pair{0x02}};
  constexpr std::array<float, 4> kExpected{0.5, -6, 1, 0};
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    EXPECT_EQ(decode_at(kPairs.data(), static_cast<std::int64_t>(i)), kExpected.at(i)) << i;
  }
}

TEST(WholeNumbers, OfInt8AreRoundedToTheNearestAndStayInside) {
  struct Row {
    float value;
    int whole;
  };
  for (const Row& row : {Row{0, 0}, Row{-1, -1}, Row{0.5F, 0}, Row{1.5F, 2}, Row{-2.5F, -2},
                         Row{-2.51F, -3}, Row{126.5F, 126}, Row{127.5F, 127}, Row{1e30F, 127},
                         Row{-128.4F, -128}, Row{-1e30F, -128}, Row{NAN, 0}}) {
    EXPECT_EQ(decode(encode<Int8>(row.value)), row.whole) << row.value;
  }
  for (int code = -128; code < 128; ++code) {
    EXPECT_EQ(decode(Int8{static_cast<std::uint8_t>(code)}), code);
    EXPECT_EQ(encode<Int8>(static_cast<float>(code)).bits, static_cast<std::uint8_t>(code));
  }
}

// LECTURE.md, table of formats: bits, bytes and the two limits as printed there.
TEST(FormatTable, HasTheLecturesFigures) {
  struct Row {
    Format format;
    int exponent_bits, mantissa_bits, bytes;
    double max, min_normal;
  };
  for (const Row& row :
       {Row{Format::fp32, 8, 23, 4, 3.403e38, 1.175e-38},
        Row{Format::tf32, 8, 10, 4, 3.401e38, 1.175e-38},
        Row{Format::fp16, 5, 10, 2, 65504, 6.104e-5},
        Row{Format::bf16, 8, 7, 2, 3.39e38, 1.175e-38}, Row{Format::fp8_e4m3, 4, 3, 1, 448, 0x1p-6},
        Row{Format::fp8_e5m2, 5, 2, 1, 57344, 0x1p-14}}) {
    const FormatInfo& f = info(row.format);
    SCOPED_TRACE(f.name);
    EXPECT_EQ(f.exponent_bits, row.exponent_bits);
    EXPECT_EQ(f.mantissa_bits, row.mantissa_bits);
    EXPECT_EQ(f.storage_bytes, row.bytes);
    EXPECT_NEAR(f.max_finite() / row.max, 1, 5e-4);
    EXPECT_NEAR(f.min_normal() / row.min_normal, 1, 5e-4);
  }
}

TEST(FormatTable, HasExactLimits) {
  using Float = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  struct Row {
    Format format;
    double max, min_normal, min_subnormal, epsilon;
  };
  for (const Row& row :
       {Row{Format::fp32, Float::max(), Float::min(), Float::denorm_min(), Float::epsilon()},
        Row{Format::tf32, 0x1.ffcp127, 0x1p-126, 0x1p-136, 0x1p-10},
        Row{Format::fp16, 65504, 0x1p-14, 0x1p-24, 0x1p-10},
        Row{Format::bf16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7},
        Row{Format::fp8_e4m3, 448, 0x1p-6, 0x1p-9, 0x1p-3},
        Row{Format::fp8_e5m2, 57344, 0x1p-14, 0x1p-16, 0x1p-2},
        Row{Format::fp64, Double::max(), Double::min(), Double::denorm_min(), Double::epsilon()}}) {
    const FormatInfo& f = info(row.format);
    SCOPED_TRACE(f.name);
    EXPECT_EQ(f.max_finite(), row.max);
    EXPECT_EQ(f.min_normal(), row.min_normal);
    EXPECT_EQ(f.min_subnormal(), row.min_subnormal);
    EXPECT_EQ(f.epsilon(), row.epsilon);
  }
}

TEST_P(EveryFormat, DecodesItsLimits) {
  EXPECT_EQ(decode(1), format().min_subnormal());
  EXPECT_EQ(decode(1U << format().mantissa_bits), format().min_normal());
  EXPECT_EQ(decode(largest()), format().max_finite());
  EXPECT_EQ(decode(encode(1) + 1), 1 + format().epsilon());
  const float beyond = decode(largest() + 1);
  EXPECT_EQ(std::isinf(beyond), format().has_infinity);
  EXPECT_EQ(std::isnan(beyond), !format().has_infinity);
}

TEST_P(SmallFormat, EveryCodeRoundTrips) {
  const std::uint32_t nan = encode(std::numeric_limits<float>::quiet_NaN());
  int nans = 0;
  for (std::uint32_t code = 0; code < 2 * sign_bit(); ++code) {
    const float value = decode(code);
    if (std::isnan(value)) {
      ++nans;
      ASSERT_EQ(encode(value), nan | (code & sign_bit())) << code;
    } else if (format().saturates && std::isinf(value)) {
      ASSERT_EQ(encode(value), code - 1) << code;
    } else {
      ASSERT_EQ(encode(value), code) << value;
    }
  }
  // Every non-zero mantissa under the top exponent and either sign, or the one code of e4m3.
  EXPECT_EQ(nans, format().has_infinity ? 2 * ((1 << format().mantissa_bits) - 1) : 2);
}

TEST(Format, CanonicalNans) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(encode<Fp16>(nan).bits, 0x7e00);
  EXPECT_EQ(encode<Bf16>(nan).bits, 0x7fc0);
  EXPECT_EQ(encode<Tf32>(nan).bits, 0x7fc00000);
  EXPECT_EQ(encode<Fp8E4m3>(nan).bits, 0x7f);
  EXPECT_EQ(encode<Fp8E5m2>(nan).bits, 0x7e);
  // A signalling NaN whose payload lies below the format's mantissa must not become infinity.
  EXPECT_EQ(encode<Bf16>(std::bit_cast<float>(0xff800001U)).bits, 0xffc0);
}

// Between any two neighbours: below the middle goes down, above goes up, and the middle itself goes
// to the even one, or away from zero in tf32. Covers subnormals and the step to the first normal.
TEST_P(SmallFormat, RoundsToTheNearest) {
  for (std::uint32_t code = 0; code < largest(); ++code) {
    const auto middle = static_cast<float>((double{decode(code)} + decode(code + 1)) / 2);
    const std::uint32_t up = code + 1;
    const std::uint32_t tie = format().ties_away || code % 2 == 1 ? up : code;
    ASSERT_EQ(encode(middle), tie) << middle;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0F)), code) << middle;
    ASSERT_EQ(encode(std::nextafter(middle, kInfinity)), up) << middle;
  }
}

TEST_P(SmallFormat, OverflowsHalfAStepBeyondTheLargest) {
  const double step = format().max_finite() - decode(largest() - 1);
  const auto tie = static_cast<float>(format().max_finite() + step / 2);
  const std::uint32_t overflow = largest() + (format().saturates ? 0 : 1);
  EXPECT_EQ(encode(std::nextafter(tie, 0.0F)), largest());
  EXPECT_EQ(encode(std::nextafter(tie, kInfinity)), overflow);
  EXPECT_EQ(encode(std::numeric_limits<float>::max()), overflow);
  EXPECT_EQ(encode(kInfinity), overflow);
  EXPECT_EQ(encode(-kInfinity), overflow | sign_bit());
}

TEST(Format, SaturatesOrOverflowsLikeTheHardware) {
  EXPECT_EQ(decode(encode<Fp8E4m3>(1e6F)), 448);
  EXPECT_EQ(decode(encode<Fp8E5m2>(-1e6F)), -57344);
  EXPECT_EQ(decode(encode<Fp16>(65520)), kInfinity);
  EXPECT_EQ(decode(encode<Fp16>(65519)), 65504);
  EXPECT_EQ(decode(encode<Bf16>(-std::numeric_limits<float>::max())), -kInfinity);
}

TEST_P(EveryFormat, EncodeIsMonotonicAndOdd) {
  std::uint32_t before = 0;
  for (std::uint32_t raw = 0; raw <= 0x7f800000; raw += 509) {
    const auto value = std::bit_cast<float>(raw);
    const std::uint32_t code = encode(value);
    ASSERT_GE(code, before) << value;
    ASSERT_EQ(encode(-value), code | sign_bit()) << value;
    before = code;
  }
}

TEST_P(EveryFormat, KeepsTheSignOfZero) {
  EXPECT_EQ(encode(0.0F), 0);
  EXPECT_EQ(encode(-0.0F), sign_bit());
  EXPECT_TRUE(std::signbit(decode(sign_bit())));
  // Underflow keeps it too.
  EXPECT_EQ(decode(encode(-static_cast<float>(format().min_subnormal() / 4))), 0);
}

TEST(Format, Fp32IsTheIdentity) {
  for (std::uint64_t raw = 0; raw <= 0xffffffff; raw += 997) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(encode<float>(value)), raw);
    if (std::isnan(value)) continue;
    ASSERT_EQ(encode_bits(info(Format::fp32), value), raw);
    ASSERT_EQ(decode_bits(info(Format::fp32), static_cast<std::uint32_t>(raw)), value);
  }
}

TEST(Format, Tf32IsAFloatWithThirteenZeroBits) {
  EXPECT_EQ(encode<Tf32>(1).bits, 0x3f800000);
  EXPECT_EQ(encode<Tf32>(1 + 0x1p-11F).bits, 0x3f802000);  // a tie goes away from zero
  EXPECT_EQ(encode<Tf32>(-1 - 0x1p-11F).bits, 0xbf802000);
  EXPECT_EQ(encode<Tf32>(1 + 0x1p-11F - 0x1p-23F).bits, 0x3f800000);
  EXPECT_EQ(encode<Tf32>(0x1.ffcp127F).bits, 0x7f7fe000);
  EXPECT_EQ(decode(encode<Tf32>(3.14159265F)), 3.140625F);
}

// Constant expressions, in which the compiler refuses undefined behaviour such as the shifts of a
// floating-point encoder by the exponent bits of int32, which are none.
TEST(Format, StoredBitsAreDefinedForEveryFormat) {
  static_assert(stored_bits(Format::int32, 7) == 7);
  static_assert(stored_bits(Format::int32, -2.5) == 0xfffffffd);
  static_assert(stored_bits(Format::int32, -3) == 0xfffffffd);
  static_assert(stored_bits(Format::int8, -2.5) == 0xfe);
  static_assert(stored_bits(Format::tf32, 1) == 0x3f800000);
  static_assert(stored_bits(Format::fp64, 0.1) == 0x3fb999999999999a);  // not those of a float
  static_assert(stored_bits(Format::fp8_e4m3, 1) == 0x38);
  static_assert(stored_bits(Format::ue8m0, 3) == 0x81);
  static_assert(stored_bits(Format::fp4_e2m1, -1.5) == 0xbb);
}

// LECTURE.md: fp16 loses 1e-8, bf16 with the range of fp32 keeps it.
TEST(Format, OneHundredMillionth) {
  EXPECT_EQ(decode(encode<Fp16>(1e-8F)), 0);
  EXPECT_NEAR(decode(encode<Bf16>(1e-8F)), 1e-8, 1e-8 * info(Format::bf16).epsilon() / 2);
}

TEST(Format, StoredTypesHaveTheWidthOfTheTable) {
  static_assert(sizeof(Tf32) == info(Format::tf32).storage_bytes);
  static_assert(sizeof(Fp16) == info(Format::fp16).storage_bytes);
  static_assert(sizeof(Bf16) == info(Format::bf16).storage_bytes);
  static_assert(sizeof(Fp8E4m3) == info(Format::fp8_e4m3).storage_bytes);
  static_assert(sizeof(Fp8E5m2) == info(Format::fp8_e5m2).storage_bytes);
  static_assert(encode<Fp8E4m3>(-1).bits == 0xb8 && decode(Bf16{0x40a0}) == 5);
}

}  // namespace
}  // namespace ridgebench
