// Addition of two vectors: z = x + y, one FLOP per element. It adds the two branches of a residual
// connection, and the gradients of micro-batches. Bytes: two vectors read, one written.
#pragma once

#include <cmath>

#include "kernels/common/elementwise.hpp"
#include "kernels/common/norm.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {

inline const RegisterOperation add{pointwise({
    .name = "add",
    .formats = kTrainingFormats,
    .flops_per_element = 1,
    .operands = {{"x"}, {"y"}, {"z", Access::written}},
    .block = each_element<2, 1>([](const std::array<double, 2>& in) {
      return std::array{Expected{in[0] + in[1], norm_of(in[0], in[1])}};
    }),
    .terms = 2,
    .of_step = true,
})};

}  // namespace ridgebench
