// Errors of the GeLU forms in kernels/common/cuda/gelu.cuh, for approximation_error, relative to
// gelu_norm (kernels/common/gelu_reference.hpp). That norm is at least |x| / 2 and |y| / sqrt(2).
#pragma once

#include "kernels/common/gelu_reference.hpp"

namespace ridgebench::cuda {

// gelu_exp2: an error of 2^-22 in p = e^(-2u) changes x / (1 + p) by |x| p / (1 + p)^2 2^-22, at
// most |x| 2^-24; an error of 2^-23 in the reciprocal changes it by |y| 2^-23.
inline constexpr double kGeluExp2Error = 0x1p-23 * (1 + 1.4143);

// gelu_tanh_approx: tanh.approx errs by 2^-11 relative to the tanh, so y by one half |x tanh u|
// 2^-11, while gelu_norm is one half |(x, x tanh u)|: at most 2^-11 / sqrt(2) of it.
inline constexpr double kGeluTanhError = 0x1p-11 * 0.7072;

// gelu_tanh_approx of two fp16 numbers. u = x (kLinear + kCubic x^2): the constants, the square,
// the sum and the product err by at most 3.5 x 2^-11 of u together, which changes tanh u by at most
// 0.448 of that, the largest u (1 - tanh^2 u). tanh.approx.f16x2 errs by 2^-10.987 of the tanh.
// Both come to 2.3 x 2^-11 of the norm, and the last rounding to 2^-11 |y|, so to 3.7 x 2^-11
// together. Below 2^-14 fp16 keeps units of 2^-24 only: an error of 2^-25 is 2^-9 of the norm of
// the smallest fp8 number, whose x/2 is 2^-17, and one more such error of u is as small. Twice the
// first sum covers all of it.
inline constexpr double kGeluHalf2Error = 0x1p-8;

// Error of gelu_approx<Out>.
template <class Out>
inline constexpr double kGeluError = sizeof(Out) == 4 ? kGeluExp2Error : kGeluTanhError;

// A product that is rounded to 16 bits before bias and GeLU: half a unit in the last place of bf16,
// of a sum up to twice gelu_norm, times the largest slope of GeLU.
inline constexpr double kRoundedBeforeGelu = 0x1p-9 * 2 * kGeluMaxSlope;

}  // namespace ridgebench::cuda
