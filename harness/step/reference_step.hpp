// The loss and the gradients of a training step in double precision, by plain loops, from the
// values that the step begins with.
#pragma once

#include <optional>

#include "harness/step/chain.hpp"
#include "harness/step/training_step.hpp"

namespace ridgebench {

// A reference of more FLOPs is not computed: it takes about a second of two processors for 2^32.
inline constexpr double kMostReferenceFlops = 0x1p34;

// Relative errors of a step, each the Frobenius norm of the difference over that of the reference.
struct EndToEnd {
  double loss_error = 0;
  double gradients_error = 0;
  // Their limit: 8 (u_acc sqrt(n) + u) sqrt(4 L) with n = max(width, batch), u the unit
  // roundoff of the step's format and u_acc that of fp32. Rounding errors of independent layers add
  // up as their squares do. With relu, the square root of that for the gradients: an input that
  // rounds to the other side of 0 changes its element as a whole.
  double loss_tolerance = 0;
  double gradients_tolerance = 0;

  [[nodiscard]] bool passed() const {
    return loss_error <= loss_tolerance && gradients_error <= gradients_tolerance;
  }
};

// Returns the tolerances of a step, and errors of 0.
EndToEnd end_to_end_tolerances(const TrainingStep& step);

// Fills the chain of the step, runs it once and compares. Empty for a step above
// kMostReferenceFlops.
std::optional<EndToEnd> compare_end_to_end(Chain& chain, const TrainingStep& step, Device& device);

}  // namespace ridgebench
