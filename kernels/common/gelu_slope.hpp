// The derivative of GeLU, tanh form (gelu_reference.hpp), in fp32 for kernels of hosts and GPUs,
// without a sum that cancels: with p = e^(-2u), q = 1 / (1 + p) and u' = du/dx,
//   d/dx x q = q + x q (p q) 2u'
// A kernel computes p and q with the functions of its processor.
#pragma once

namespace ridgebench {

// Between these ends p is finite and not 0. Beyond them the derivative is 0 or 1 in fp32.
inline constexpr float kGeluSlopeEnd = 9.9F;

// x, or the nearest end. NaN stays NaN.
[[gnu::always_inline]] constexpr float gelu_slope_range(float x) {
  const float above = x < -kGeluSlopeEnd ? -kGeluSlopeEnd : x;
  return above > kGeluSlopeEnd ? kGeluSlopeEnd : above;
}

// log2 p = -2u log2 e, with u = sqrt(2/pi) (x + 0.044715 x^3).
[[gnu::always_inline]] constexpr float gelu_slope_exponent(float x) {
  constexpr float kLinear = -2.302208198F;  // -2 sqrt(2/pi) log2(e)
  constexpr float kCubic = -0.1029432397F;  // 0.044715 times that
  return x * (kLinear + kCubic * (x * x));
}

[[gnu::always_inline]] constexpr float gelu_slope(float x, float p, float q) {
  constexpr float kLinear = 1.595769122F;  // 2 sqrt(2/pi)
  constexpr float kSquare = 0.214064449F;  // 3 x 0.044715 times that
  return q + q * (p * q) * (x * (kLinear + kSquare * (x * x)));
}

}  // namespace ridgebench
