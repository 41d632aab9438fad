// Gradient of ReLU: dx = dy where x > 0, else 0. One comparison per element, one FLOP. Bytes: x and
// dy read, dx written. A NaN in x is not positive, and dx is 0 there.
#pragma once

#include <cmath>

#include "kernels/common/elementwise.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {

inline const RegisterOperation relu_backward{pointwise({
    .name = "relu_backward",
    .formats = kTrainingFormats,
    .flops_per_element = 1,
    .operands = {{"x"}, {"dy"}, {"dx", Access::written}},
    .block = each_element<2, 1>([](const std::array<double, 2>& in) {
      const double dx = in[0] > 0 ? in[1] : 0.0;
      return std::array{Expected{dx, std::abs(dx)}};
    }),
    .of_step = true,
})};

}  // namespace ridgebench
