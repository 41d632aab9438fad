// Work added on purpose, so that it can be proved that a comparison finds it: with
// RIDGEPOINT_INJECT_WORK=0.02 every launch is preceded by the same kernel on a problem 2 % as large
// along its first dimension, in buffers of its own. It is real work, on any device. The variable
// stands in environment.json, and a row that it slowed is flagged `injected_work`.
#pragma once

#include "kernels/common/shape.hpp"

namespace ridgepoint {

inline constexpr const char* kInjectedWorkVariable = "RIDGEPOINT_INJECT_WORK";
inline constexpr const char* kInjectedWorkFlag = "injected_work";

// Share of a launch's work to add, from 0 to 1; 0 where the variable is not set. Throws UsageError
// for a value that is no such number.
double injected_share();

// The shape with its first dimension scaled by the share, at least 1.
Shape scaled_shape(const Shape& shape, double share);

}  // namespace ridgepoint
