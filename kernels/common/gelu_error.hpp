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

// Error of gelu_approx<Out>.
template <class Out>
inline constexpr double kGeluError = sizeof(Out) == 4 ? kGeluExp2Error : kGeluTanhError;

// A product that is rounded to 16 bits before bias and GeLU: half a unit in the last place of bf16,
// of a sum up to twice gelu_norm, times the largest slope of GeLU.
inline constexpr double kRoundedBeforeGelu = 0x1p-9 * 2 * kGeluMaxSlope;

}  // namespace ridgebench::cuda
