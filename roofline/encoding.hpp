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
  int exponent_bits;
  int mantissa_bits;
  double largest;
  const FormatInfo* info;  // null: fp4

  [[nodiscard]] int bits() const { return 1 + exponent_bits + mantissa_bits; }
  // Subtracted from the bits of the exponent.
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint32_t encode(double value) const;
  [[nodiscard]] double decode(std::uint32_t code) const;

  // The smallest value above 0, the smallest that is normal, and half a step above the largest one,
  // from which on a number does not round to it.
  [[nodiscard]] double least() const { return decode(1); }
  [[nodiscard]] double least_normal() const { return decode(1U << mantissa_bits); }
  [[nodiscard]] double last_step() const {
    return std::ldexp(1.0, std::ilogb(largest) - mantissa_bits);
  }
  [[nodiscard]] double overflows_from() const { return largest + last_step() / 2; }
};

// The format of a name, or all for an empty name: those of kernels/common/format.hpp but tf32x3,
// fp64 and whole numbers, and fp4 without the scale of a block. Throws UsageError.
std::vector<Encoding> encodings_of(const std::string& format);

// "zero", "subnormal", "normal", "infinity" or "nan"; `value` is what the code represents.
std::string_view class_of(const Encoding& encoding, std::uint32_t code, double value);

// Outcome for a number that the format decodes as `decoded`: "exact", "rounded", "underflow"
// (to 0), "overflow" (to infinity) or "saturates" (at the largest value).
std::string_view outcome_of(const Encoding& encoding, double value, double decoded);

}  // namespace ridgebench
