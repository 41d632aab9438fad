// The formats that `number` shows, with their bits and the bounds of what they hold.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/format.hpp"

namespace ridgebench {

struct Encoding {
  std::string_view name;
  const FormatInfo* info;
  bool has_sign = true;

  [[nodiscard]] int exponent_bits() const { return info->exponent_bits; }
  [[nodiscard]] int mantissa_bits() const { return info->mantissa_bits; }
  [[nodiscard]] double largest() const { return info->max_finite(); }
  [[nodiscard]] int bits() const { return (has_sign ? 1 : 0) + exponent_bits() + mantissa_bits(); }
  // False for ue8m0, whose lowest exponent is one as the others.
  [[nodiscard]] bool has_subnormals() const { return mantissa_bits() > 0; }
  // Subtracted from the bits of the exponent.
  [[nodiscard]] int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
  [[nodiscard]] std::uint32_t encode(double value) const;
  [[nodiscard]] double decode(std::uint32_t code) const;

  // The smallest value above 0, the smallest that is normal, and half a step above the largest one,
  // from which on a number does not round to it.
  [[nodiscard]] double least() const { return decode(1); }
  [[nodiscard]] double least_normal() const { return decode(1U << mantissa_bits()); }
  [[nodiscard]] double last_step() const {
    return std::ldexp(1.0, std::ilogb(largest()) - mantissa_bits());
  }
  [[nodiscard]] double overflows_from() const { return largest() + last_step() / 2; }
};

// The format of a name, or all for an empty name: those of kernels/common/format.hpp but tf32x3,
// fp64 and whole numbers, and fp4 without the scale of a block. Throws UsageError.
std::vector<Encoding> encodings_of(const std::string& format);

// The same, and by their names the formats of the scales of blocks: ue8m0 of mxfp8 and mxfp4, which
// rounds up to a power of two, and ue4m3 of nvfp4, fp8_e4m3 without a sign.
std::vector<Encoding> encodings_of_numbers(const std::string& format);

// "zero", "subnormal", "normal", "infinity" or "nan"; `value` is what the code represents.
std::string_view class_of(const Encoding& encoding, std::uint32_t code, double value);

// Outcome for a number that the format decodes as `decoded`: "exact", "rounded", "underflow"
// (to 0), "overflow" (to infinity) or "saturates" (at the largest value).
std::string_view outcome_of(const Encoding& encoding, double value, double decoded);

}  // namespace ridgebench
