// Gradient of GeLU, tanh form (kernels/common/gelu_reference.hpp): with t = tanh u and
// u = sqrt(2/pi) (x + 0.044715 x^3),
//   dx = dy (1/2 (1 + t) + x/2 (1 - t^2) u'),  u' = sqrt(2/pi) (1 + 3 x 0.044715 x^2)
// 22 FLOPs per element, with tanh expanded as for gelu: 5 for u (x^2, times 0.044715, plus 1, times
// x, times the root), 5 for t = (e^2u - 1) / (e^2u + 1) (2u, the exponential, two sums, the
// quotient), 2 for 1/2 (1 + t), 3 for u' (times 3, plus 1, times the root), 2 for 1 - t^2, 3 for
// the product with x/2 and u', 1 for the sum, 1 for dy. Bytes: x and dy read, dx written.
#pragma once

#include <cmath>

#include "kernels/common/elementwise.hpp"
#include "kernels/common/gelu_reference.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {

namespace gelu_backward_detail {

// The norm is that of the terms dy/2, dy t/2 and the third, whose sum is dx.
inline std::array<Expected, 1> reference(const std::array<double, 2>& in) {
  const auto [x, dy] = in;
  const double t = gelu_tanh(x);
  const double third = gelu_slope_of_tanh(x, t);
  return {{{dy * (0.5 * (1 + t) + third), std::abs(dy) * std::hypot(0.5, 0.5 * t, third)}}};
}

}  // namespace gelu_backward_detail

inline const RegisterOperation gelu_backward{pointwise({
    .name = "gelu_backward",
    .formats = kTrainingFormats,
    .flops_per_element = 22,
    .operands = {{"x"}, {"dy"}, {"dx", Access::written}},
    .block = each_element<2, 1>(gelu_backward_detail::reference),
    .terms = 3,
    .special_per_element = 1,
    .of_step = true,
})};

}  // namespace ridgebench
