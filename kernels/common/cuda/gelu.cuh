// GeLU, tanh form (kernels/common/gelu_reference.hpp), in fp32 for device kernels: one form that is
// accurate to fp32, and one that spends a single MUFU, for narrower outputs.
#pragma once

#include "kernels/common/cuda/ptx/special.cuh"

namespace ridgebench::cuda {

// x/2 (1 + tanh u) = x / (1 + e^(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3): two MUFUs, and no
// sum that cancels. NaN stays NaN, gelu(inf) = inf.
__device__ inline float gelu_exp2(float x) {
  constexpr float kLinear = -2.302208198F;  // -2 sqrt(2/pi) log2(e)
  constexpr float kCubic = -0.1029432397F;  // 0.044715 times that
  return x * reciprocal_approx(1.0F + exp2_approx(x * (kLinear + kCubic * (x * x))));
}

// What the two approximations may add to its error, relative to gelu_norm, which is |x| / 2 or more
// and |y| / sqrt(2) or more: 2^-22 in p = e^(-2u) moves x / (1 + p) by |x| p / (1 + p)^2 2^-22, no
// more than |x| 2^-24; 2^-23 in the reciprocal moves it by |y| 2^-23.
inline constexpr double kGeluExp2Error = 0x1p-23 * (1 + 1.4143);

// The formula as it stands: one MUFU, and five more instructions.
__device__ inline float gelu_tanh_approx(float x) {
  constexpr float kLinear = 0.7978845608F;  // sqrt(2/pi)
  constexpr float kCubic = 0.03567740814F;  // 0.044715 times that
  const float half = 0.5F * x;
  return half + half * tanh_approx(x * (kLinear + kCubic * (x * x)));
}

// Likewise: tanh_approx's 2^-11, relative to the tanh, is one half |x tanh u| 2^-11 against
// gelu_norm = one half |(x, x tanh u)|, no more than 2^-11 / sqrt(2) of it.
inline constexpr double kGeluTanhError = 0x1p-11 * 0.7072;

}  // namespace ridgebench::cuda
