// How far a right output may be from the reference. verification.hpp explains the terms.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/operation.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// Outputs that may err by this part of the reference's norm, or by more, may have no right bit. A
// comparison of them proves nothing, and their row fails.
inline constexpr double kMostError = 0.5;

// The tolerance of a technique's outputs, of which all but the expected value is constant. Whole
// numbers have none.
class Tolerance {
 public:
  Tolerance(const Technique& technique, double terms, Format output) {
    if (output == Format::int32) return;
    output_roundoff_ = unit_roundoff(output);
    half_step_ = info(output).min_subnormal() / 2;
    declared_ = technique.approximation_error + technique.accumulation_error;
    const double cut_off = technique.engine == Engine::tensor ? terms / kTermsOfAnAddition : 0;
    accumulated_ = unit_roundoff(technique.accumulator) * (kGrowth * std::sqrt(terms) + cut_off);
  }

  // The part that does not come from the output's format, over the norm of the reference.
  [[nodiscard]] double of_norm() const { return accumulated_ + declared_; }

  // The output's format may round smaller values to zero.
  [[nodiscard]] double smallest_value() const { return 2 * half_step_; }

  [[nodiscard]] double operator()(Expected expected) const {
    const double accumulated = accumulated_ * expected.norm;
    // Rounding to the output's format costs a relative error, and at least half a subnormal step.
    const double rounding =
        std::max(output_roundoff_ * (std::abs(expected.value) + accumulated), half_step_);
    return accumulated + declared_ * expected.norm + rounding;
  }

 private:
  static constexpr double kGrowth = 8;
  // A tensor engine adds at least this many terms at once and truncates the sum toward zero. Each
  // truncation costs half a unit of the last place on average, and these errors add up. Products of
  // cuBLAS and of our kernels on an H100 show the error from a few thousand terms on.
  static constexpr double kTermsOfAnAddition = 8;

  static double unit_roundoff(Format format) { return info(format).epsilon() / 2; }

  double output_roundoff_ = 0;
  double half_step_ = 0;
  double declared_ = 0;
  double accumulated_ = 0;
};

}  // namespace ridgebench
