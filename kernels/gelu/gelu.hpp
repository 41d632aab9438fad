// GeLU, tanh form (kernels/common/gelu_reference.hpp). By the lecture's convention, with tanh
// expanded, 20 FLOPs per element.
#pragma once

#include "kernels/common/elementwise.hpp"
#include "kernels/common/gelu_reference.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

inline const RegisterOperation gelu{elementwise({
    .name = "gelu",
    .flops_per_element = kGeluFlops,
    .value = gelu_reference,
    .norm = gelu_norm,
    .terms = 2,
    .special_per_element = 1,
})};

}  // namespace ridgebench
