// Writes zeros: y = 0, as a step does with its gradients. No FLOPs: it is a bandwidth and no point
// of a roofline. Bytes: y written. Every element is exact.
#pragma once

#include "kernels/common/elementwise.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {

inline const RegisterOperation zero{pointwise({
    .name = "zero",
    .formats = kTrainingFormats,
    .flops_per_element = 0,
    .operands = {{"y", Access::written}},
    .block = each_element<0, 1>(
        [](const std::array<double, 0>& /*none*/) { return std::array{Expected{0, 0}}; }),
    .of_step = true,
})};

}  // namespace ridgebench
