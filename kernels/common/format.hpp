// The number formats: one table, one storage type each, and software conversion from and to float.
//
// Sources: IEEE 754-2019 (fp32, fp16); "FP8 Formats for Deep Learning", arXiv 2209.05433 (e4m3 has
// no infinity and one NaN per sign, e5m2 is IEEE-like); bfloat16 and tf32 as in the PTX ISA,
// section on alternate floating-point formats. Overflow follows the hardware's conversions: fp8
// saturates (cvt.rn.satfinite), fp16 and bf16 go to infinity (cvt.rn), tf32 rounds ties away
// (cvt.rna). fp4_e2m1: OCP Microscaling Formats v1.0 (no infinity and no NaN); NaN becomes the
// largest number (cvt.rn.satfinite.e2m1x2).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridgebench {

// tf32x3 is fp32 whose products are made of products of tf32 numbers, the high and the low parts of
// both: nearly as accurate, but not fp32's own arithmetic. int32 is a format for operands only,
// such as indices: no operation is measured in it, and kFormats leaves it out. Only ceilings
// compute in fp64 and int8. int8, too, holds whole numbers, -128 to 127, and is for inputs only:
// its products are added up in int32. ue8m0 is for operands that are scales: powers of two without
// a sign, 2^-127 to 2^127, and NaN (OCP Microscaling Formats v1.0, E8M0). fp4_e2m1 is for inputs of
// products whose blocks have scales. kFormats leaves it out, because memory holds pairs of it.
enum class Format : std::uint8_t {
  fp32,
  tf32,
  fp16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  tf32x3,
  fp64,
  int8,
  fp4_e2m1 = 253,
  ue8m0 = 254,
  int32 = 255
};

struct FormatInfo {
  Format format;
  std::string_view name;
  int exponent_bits;
  int mantissa_bits;  // stored, without the implicit one
  int storage_bytes;  // of an element: tf32 is stored as fp32, and fp4_e2m1 as a pair of numbers
  bool has_infinity;  // false: the top exponent holds numbers, and overflow saturates
  bool saturates;     // encoding a value too large gives the largest finite one
  bool ties_away;     // rounding: ties away from zero instead of to even

  // int8 and int32, in two's complement. What follows bits() describes the others.
  [[nodiscard]] constexpr bool whole() const { return exponent_bits == 0; }
  [[nodiscard]] constexpr bool has_sign() const { return format != Format::ue8m0; }
  [[nodiscard]] constexpr bool has_nan() const { return format != Format::fp4_e2m1; }
  // Numbers in an element of memory. What follows describes one number.
  [[nodiscard]] constexpr int numbers() const { return format == Format::fp4_e2m1 ? 2 : 1; }
  // True if the top exponent holds no number.
  [[nodiscard]] constexpr bool top_is_special() const { return has_infinity || mantissa_bits == 0; }
  [[nodiscard]] constexpr int bits() const {
    return (has_sign() ? 1 : 0) + exponent_bits + mantissa_bits;
  }
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int max_exponent() const { return bias() + (top_is_special() ? 0 : 1); }
  // 2^exponent as a double, exact for every exponent used here.
  [[nodiscard]] static constexpr double power(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
  }
  // Distance from 1 to the next number. The unit roundoff is half of it.
  [[nodiscard]] constexpr double epsilon() const { return power(-mantissa_bits); }
  [[nodiscard]] constexpr double max_finite() const {
    // Without infinities the all-ones mantissa of the top exponent is NaN: one step less.
    const bool last_is_nan = has_nan() && !top_is_special();
    return power(max_exponent()) * (2.0 - epsilon() * (last_is_nan ? 2.0 : 1.0));
  }
  // Smallest bits, of those without a sign, that are not a number: the bit of the sign if all are.
  // Not of fp64, as what follows.
  [[nodiscard]] constexpr std::uint32_t first_nan() const {
    if (!has_nan()) return 1U << (exponent_bits + mantissa_bits);
    return top_exponent() + (has_infinity ? 1U : (1U << mantissa_bits) - 1U);
  }
  // Bits of the top exponent without a mantissa: infinity, in formats that have one.
  [[nodiscard]] constexpr std::uint32_t top_exponent() const {
    return ((1U << exponent_bits) - 1U) << mantissa_bits;
  }
  [[nodiscard]] constexpr double min_normal() const { return power(1 - bias()); }
  [[nodiscard]] constexpr double min_subnormal() const { return min_normal() * epsilon(); }
};

// clang-format off
inline constexpr std::array kFormats{
    //         format            name        exp man bytes  inf  saturates ties away
    FormatInfo{Format::fp32,     "fp32",     8, 23, 4, true,  false, false},
    FormatInfo{Format::tf32,     "tf32",     8, 10, 4, true,  false, true},
    FormatInfo{Format::fp16,     "fp16",     5, 10, 2, true,  false, false},
    FormatInfo{Format::bf16,     "bf16",     8,  7, 2, true,  false, false},
    FormatInfo{Format::fp8_e4m3, "fp8_e4m3", 4,  3, 1, false, true,  false},
    FormatInfo{Format::fp8_e5m2, "fp8_e5m2", 5,  2, 1, true,  true,  false},
    FormatInfo{Format::tf32x3,   "tf32x3",   8, 23, 4, true,  false, false},
    FormatInfo{Format::fp64,     "fp64",    11, 52, 8, true,  false, false},
    FormatInfo{Format::int8,     "int8",     0,  7, 1, false, true,  false},
};
// clang-format on
inline constexpr FormatInfo kFp4E2m1{Format::fp4_e2m1, "fp4_e2m1", 2, 1, 1, false, true, false};
inline constexpr FormatInfo kInt32{Format::int32, "int32", 0, 31, 4, false, false, false};
inline constexpr FormatInfo kUe8m0{Format::ue8m0, "ue8m0", 8, 0, 1, false, true, false};

constexpr const FormatInfo& info(Format format) {
  if (format == Format::fp4_e2m1) return kFp4E2m1;
  if (format == Format::ue8m0) return kUe8m0;
  return format == Format::int32 ? kInt32 : kFormats[static_cast<std::size_t>(format)];
}

// True for formats of indices and scales, in which no operation is measured.
constexpr bool for_operands_only(Format format) {
  return format == Format::int32 || format == Format::ue8m0;
}

// Products of the hardware for one product of `format`: `count` products of numbers of `factors`.
struct Products {
  Format factors;
  int count;
};
constexpr Products products_of(Format format) {
  // high x high, high x low and low x high
  return format == Format::tf32x3 ? Products{Format::tf32, 3} : Products{format, 1};
}

// The format whose sums count as exact enough for a format's products: fp32, fp64's own, and int32
// for int8.
constexpr Format sum_format(Format format) {
  if (format == Format::int8) return Format::int32;
  return format == Format::fp64 ? Format::fp64 : Format::fp32;
}

// "bf16" -> Format::bf16; `fp8` is an alias of fp8_e4m3. Throws UsageError listing what exists.
Format parse_format(std::string_view name);

// The same for the format of sums, which may be int32.
Format parse_sum_format(std::string_view name);

// Formats of the two inputs of an operation; equal but for mixed fp8 ("fp8_e4m3xfp8_e5m2").
struct FormatPair {
  Format a{};
  Format b{};

  constexpr FormatPair() = default;
  // Implicit: almost every row has one format.
  constexpr FormatPair(Format both) : a(both), b(both) {}  // NOLINT(google-explicit-constructor)
  constexpr FormatPair(Format first, Format second) : a(first), b(second) {}
  [[nodiscard]] constexpr bool mixed() const { return a != b; }
  [[nodiscard]] std::string name() const;
  friend constexpr bool operator==(FormatPair, FormatPair) = default;
};

// Output format of matvec and matmul: the input's own, but bf16 for fp8.
constexpr Format product_format(FormatPair inputs) {
  return info(inputs.a).storage_bytes == 1 ? Format::bf16 : inputs.a;
}

// "bf16", "fp8_e4m3xfp8_e5m2". Throws UsageError.
FormatPair parse_format_pair(std::string_view name);

// The same for a format that an operation is measured in: also fp4_e2m1, whose other names are fp4
// and nvfp4.
FormatPair parse_measured_format(std::string_view name);

// The bits of the float that ue8m0 represents by `bits`. The smallest is a subnormal float.
constexpr std::uint32_t float_bits_of_ue8m0(std::uint32_t bits) {
  if (bits == 255) return 0x7fc00000U;
  return bits == 0 ? 0x00400000U : bits << 23U;
}

// The value that `bits` represents, in a format of 32 bits or fewer: the magnitude moved to a
// float's place means the same number with another bias, subnormals included, so one multiplication
// by a power of two sets it right. Like encode_bits without a branch that depends on data: how well
// those are predicted differs from process to process, by up to half the time of a naive kernel.
constexpr float decode_bits(const FormatInfo& f, std::uint32_t bits) {
  if (f.format == Format::int8) return static_cast<std::int8_t>(bits);
  if (f.format == Format::ue8m0) return std::bit_cast<float>(float_bits_of_ue8m0(bits));
  const std::uint32_t sign = bits >> (f.bits() - 1) << 31U;
  const std::uint32_t magnitude = bits & ((1U << (f.bits() - 1)) - 1U);
  const float value = std::bit_cast<float>(magnitude << (23 - f.mantissa_bits)) *
                      static_cast<float>(FormatInfo::power(127 - f.bias()));
  // Infinity and NaN, whose mantissas stay, have the top exponent of a float too.
  const bool special = magnitude >= (f.has_infinity ? f.top_exponent() : f.first_nan());
  const std::uint32_t exponent = 0x7f800000U & (0U - static_cast<std::uint32_t>(special));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | exponent | sign);
}

// All values of a format of one byte.
template <Format F>
inline constexpr auto kValues = [] {
  std::array<float, 256> values{};
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) {
    values[bits] = decode_bits(info(F), bits);
  }
  return values;
}();

// `value` rounded to a whole number of int8, ties to even, as its bits. NaN becomes 0.
constexpr std::uint32_t encode_int8(float value) {
  if (value != value) return 0;
  const float inside = std::clamp(value, -128.0F, 127.0F);
  const int cut = static_cast<int>(inside);
  const float rest = inside - static_cast<float>(cut);
  const float size = rest < 0 ? -rest : rest;
  const bool away = size > 0.5F || (size == 0.5F && cut % 2 != 0);
  const int step = rest < 0 ? -1 : 1;
  return static_cast<std::uint8_t>(away ? cut + step : cut);
}

// The least power of two that is not below the magnitude of `value`, as the bits of ue8m0, like
// cvt.rp.satfinite.ue8m0x2: a block whose largest number takes this scale does not overflow.
constexpr std::uint32_t encode_ue8m0(float value) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return 255;  // NaN
  if (magnitude <= float_bits_of_ue8m0(0)) return 0;
  return std::min((magnitude + 0x007fffffU) >> 23U, 254U);
}

// `value` rounded to a format of 32 bits or fewer but int32, as its bits (tf32: its 19 bits). NaN
// becomes the canonical NaN.
constexpr std::uint32_t encode_bits(const FormatInfo& f, float value) {
  if (f.format == Format::int8) return encode_int8(value);
  if (f.format == Format::ue8m0) return encode_ue8m0(value);
  const auto raw = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (raw >> 31U) << (f.bits() - 1);
  const std::uint32_t magnitude = raw & 0x7fffffffU;
  const std::uint32_t infinity = f.top_exponent();
  const std::uint32_t largest = (f.has_infinity ? infinity : f.first_nan()) - 1U;
  const std::uint32_t quiet =
      f.has_infinity ? infinity | 1U << (f.mantissa_bits - 1) : f.first_nan();
  const std::uint32_t nan = f.has_nan() ? sign | quiet : largest;
  const std::uint32_t overflow = f.saturates ? largest : infinity;

  // Align the significand so that one unit is one step of the format, then round on integers. From
  // 25 bits on nothing is left: less than half of the smallest step.
  const int exponent = static_cast<int>(magnitude >> 23U) - 127;
  const bool float_subnormal = magnitude < 0x00800000U;
  const std::uint32_t significand =
      float_subnormal ? magnitude : (magnitude & 0x007fffffU) | 0x00800000U;
  const int effective = float_subnormal ? -126 : exponent;
  const int lowest = 1 - f.bias();
  const int below = effective < lowest ? lowest - effective : 0;
  const int shift = std::min(23 - f.mantissa_bits + below, 25);
  const std::uint32_t odd = f.ties_away ? 1U : significand >> shift & 1U;
  const std::uint32_t rounded =
      shift > 0 ? (significand + (1U << shift >> 1U) - 1U + odd) >> shift : significand;
  // Adding the exponent lets a carry out of the significand move to the next exponent by itself.
  const int field = effective < lowest ? 0 : effective + f.bias() - 1;
  std::uint32_t bits = rounded + (static_cast<std::uint32_t>(field) << f.mantissa_bits);
  bits = bits > largest ? overflow : bits;
  return magnitude > 0x7f800000U ? nan : sign | bits;
}

// `value` rounded to the format, as the bits that memory holds: those of tf32 are the top of a
// float. int32 takes the next whole number below, which it must be able to hold. Both numbers of a
// pair of fp4_e2m1 take the value.
[[gnu::always_inline]] constexpr std::uint64_t stored_bits(Format format, double value) {
  if (format == Format::fp64) return std::bit_cast<std::uint64_t>(value);
  if (format == Format::int32) {
    const auto cut = static_cast<std::int32_t>(value);
    return std::bit_cast<std::uint32_t>(value < cut ? cut - 1 : cut);
  }
  const std::uint32_t bits = encode_bits(info(format), static_cast<float>(value));
  if (format == Format::fp4_e2m1) return bits | bits << 4U;
  return bits << (format == Format::tf32 ? 13 : 0);
}

// Storage types. They hold bits and nothing else; float is fp32's own.
template <Format F, class Bits>
struct Stored {
  static constexpr Format format = F;
  Bits bits;
};
using Tf32 = Stored<Format::tf32, std::uint32_t>;  // the bits of a float already rounded to tf32
using Fp16 = Stored<Format::fp16, std::uint16_t>;
using Bf16 = Stored<Format::bf16, std::uint16_t>;
using Fp8E4m3 = Stored<Format::fp8_e4m3, std::uint8_t>;
using Fp8E5m2 = Stored<Format::fp8_e5m2, std::uint8_t>;
using Tf32x3 = Stored<Format::tf32x3, std::uint32_t>;  // the bits of a float
using Int8 = Stored<Format::int8, std::uint8_t>;       // two's complement
using Ue8m0 = Stored<Format::ue8m0, std::uint8_t>;
using Fp4Pair = Stored<Format::fp4_e2m1, std::uint8_t>;  // the first number in the low half

template <class T>
struct FormatOf {
  static constexpr Format value = T::format;
};
template <>
struct FormatOf<float> {
  static constexpr Format value = Format::fp32;
};
template <>
struct FormatOf<double> {
  static constexpr Format value = Format::fp64;
};
template <>
struct FormatOf<std::int32_t> {
  static constexpr Format value = Format::int32;
};

// The first number of a pair.
template <class T>
[[gnu::always_inline]] constexpr float decode(T x) {
  if constexpr (FormatOf<T>::value == Format::fp32)
    return x;
  else if constexpr (sizeof(T) == sizeof(float))
    return std::bit_cast<float>(x.bits);
  else if constexpr (sizeof(T) == 1)
    return kValues<T::format>[x.bits];
  else if constexpr (T::format == Format::bf16)
    return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16U);
  else
    return decode_bits(info(T::format), x.bits);
}

// Number `index` of an array, in which the numbers of a pair count each.
template <class T>
[[gnu::always_inline]] constexpr float decode_at(const T* x, std::int64_t index) {
  if constexpr (FormatOf<T>::value == Format::fp4_e2m1) {
    const std::uint32_t pair = x[index / 2].bits;
    return decode(T{static_cast<std::uint8_t>(index % 2 == 0 ? pair : pair >> 4U)});
  } else {
    return decode(x[index]);
  }
}

template <class T>
[[gnu::always_inline]] constexpr T encode(float x) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else {
    return T{static_cast<decltype(T::bits)>(stored_bits(T::format, x))};
  }
}

}  // namespace ridgebench
