// Work added on purpose, so that it can be proved that a comparison finds it: with
// RIDGEPOINT_INJECT_WORK=0.02 every launch is preceded by the same kernel on a problem 2 % as
// large, in buffers of its own. It is real work, on any device; what a small problem costs beyond
// its share has to be calibrated. The variable stands in environment.json, and a row that it slowed
// is flagged `injected_work`.
#pragma once

#include "kernels/common/shape.hpp"

namespace ridgepoint {

inline constexpr const char* kInjectedWorkVariable = "RIDGEPOINT_INJECT_WORK";
inline constexpr const char* kInjectedWorkFlag = "injected_work";

// Share of a launch's work to add, from 0 to 1; 0 where the variable is not set. Throws UsageError
// for a value that is no such number.
double injected_share();

// A shape of about so large a share of the problem: all dimensions are scaled alike, because a
// kernel may have to prepare whatever is as large as one of them (a matmul that packs an operand).
Shape scaled_shape(const Shape& shape, double share);

}  // namespace ridgepoint
