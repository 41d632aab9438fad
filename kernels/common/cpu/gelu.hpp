// GeLU, tanh form, in fp32 for host kernels: one formula without branches, so that the compiler
// vectorises a loop over it.
#pragma once

#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/select.hpp"

namespace ridgebench::cpu {

// Largest error of gelu, relative to the norm of the reference (gelu_norm). Measured over 2^26
// floats spread over all exponents: 2.2e-7, and 5.2e-7 absolute (at 4.67, where that is one last
// place).
inline constexpr double kGeluError = 3e-7;

// x/2 (1 + tanh u) = x / (1 + e^(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3); see
// gelu_reference.hpp. NaN stays NaN, gelu(inf) = inf, gelu(-inf) = -0, its limit.
[[gnu::always_inline]] inline float gelu(float x) {
  constexpr float kLinear = -2.302208198F;  // -2 sqrt(2/pi) log2(e)
  constexpr float kCubic = -0.1029432397F;  // 0.044715 times that
  // Beyond these ends 1 + 2^t is 1 or infinity.
  const float above = select(x < -10.05F, -10.05F, x);
  const float inside = select(above > 9.9F, 9.9F, above);
  const float t = inside * (kLinear + kCubic * (inside * inside));
  return above / (1.0F + exp2_clamped(t));
}

}  // namespace ridgebench::cpu
