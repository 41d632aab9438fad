// SwiGLU: h = silu(gate) up = gate / (1 + e^-gate) up; Shazeer, "GLU Variants Improve Transformer",
// arXiv 2002.05202. 5 FLOPs per element: -gate, the exponential, the sum, the quotient, the product
// with up. Bytes: gate and up read, h written.
#pragma once

#include <cmath>

#include "kernels/common/elementwise.hpp"
#include "kernels/common/norm.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {

namespace swiglu_detail {

// The norm is that of the two terms gate up / 2 and gate up / 2 tanh(gate / 2), as of GeLU.
inline std::array<Expected, 1> reference(const std::array<double, 2>& in) {
  const auto [gate, up] = in;
  const double half = gate * up / 2;
  return {{{gate / (1 + std::exp(-gate)) * up, norm_of(half, half * std::tanh(gate / 2))}}};
}

}  // namespace swiglu_detail

inline const RegisterOperation swiglu{pointwise({
    .name = "swiglu",
    .formats = kTrainingFormats,
    .flops_per_element = 5,
    .operands = {{"gate"}, {"up"}, {"h", Access::written}},
    .block = each_element<2, 1>(swiglu_detail::reference),
    .terms = 2,
    .special_per_element = 1,
    .of_step = true,
})};

}  // namespace ridgebench
