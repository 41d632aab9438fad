// Powers of two in fp32 for host kernels: formulas without branches, so that the compiler
// vectorises a loop over them.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/cpu/select.hpp"

namespace ridgebench::cpu {

// Floats of this size are integers: adding it rounds to one, whose bits are then 1.5 x 2^23's plus
// it.
inline constexpr float kExp2Rounder = 0x1.8p23F;

// Relative error of exp2_of_fraction without roundings.
inline constexpr double kExp2PolynomialError = 1.1e-7;

// 2^f for f in [-1/2, 1/2]: a minimax polynomial (own fit by Lawson's iteration).
[[gnu::always_inline]] inline float exp2_of_fraction(float f) {
  float p = 0.0013264727F;
  p = p * f + 0.009671513F;
  p = p * f + 0.055507336F;
  p = p * f + 0.24022242F;
  p = p * f + 0.693147F;
  return p * f + 1.0F;
}

// 2^t for t in [-126, 128]; infinity from 127.5 on; NaN stays NaN.
[[gnu::always_inline]] inline float exp2_clamped(float t) {
  const float shifted = t + kExp2Rounder;
  const auto scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
  return exp2_of_fraction(t - (shifted - kExp2Rounder)) * scale;
}

// Largest relative error of exp2_of_negative while its result is a normal number. The test measures
// 2.2e-7 over 2^20 arguments.
inline constexpr double kExp2Error = 2.5e-7;

// 2^t for t <= 0: subnormal numbers below -126, and 0 from -150 on. NaN stays NaN.
[[gnu::always_inline]] inline float exp2_of_negative(float t) {
  const float inside = select(t < -160.0F, -160.0F, t);
  const float shifted = inside + kExp2Rounder;
  const auto power = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) -
                                               std::bit_cast<std::uint32_t>(kExp2Rounder));
  // Two factors, because one of them would be subnormal.
  const std::int32_t half = power >> 1;
  const auto first = std::bit_cast<float>(static_cast<std::uint32_t>(half + 127) << 23U);
  const auto second = std::bit_cast<float>(static_cast<std::uint32_t>(power - half + 127) << 23U);
  return exp2_of_fraction(inside - (shifted - kExp2Rounder)) * first * second;
}

}  // namespace ridgebench::cpu
