// The formats of the operations that a training step needs besides products: those in which
// networks are trained. Only products are in fp8.
#pragma once

#include <vector>

#include "kernels/common/registry.hpp"

namespace ridgebench {

using TrainingTypes = Types<float, Fp16, Bf16>;
inline const std::vector<FormatPair> kTrainingFormats{Format::fp32, Format::fp16, Format::bf16};

}  // namespace ridgebench
