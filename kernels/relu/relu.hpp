// ReLU: y = max(x, 0), one FLOP per element; NaN stays NaN.
#pragma once

#include "kernels/common/elementwise.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

inline const RegisterOperation relu{elementwise({
    .name = "relu",
    .flops_per_element = 1,
    .value = [](double x) { return x < 0 ? 0.0 : x; },
})};

}  // namespace ridgebench
