// What repeated comparisons of two techniques say about the ratio of their times: pure functions on
// log ratios. roofline/ridgebench/compare/gate.py has the same estimate for pairs of processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// Of the first technique against the second.
enum class Verdict : std::uint8_t { faster, slower, same, undecided };
constexpr auto names_of(Verdict) {
  return enum_names("verdict", "faster", "slower", "same", "undecided");
}

// Largest change of time that still counts as the same: half a percent.
inline constexpr double kSameWithin = 0.005;
// Probability that two equal techniques are called faster or slower. A thousand duels of a
// technique against itself then give 0.1 false verdicts on average.
inline constexpr double kFalseVerdict = 1e-4;
// Fewest log ratios with an interval: of fewer, trimming leaves too little.
inline constexpr std::size_t kFewestRatios = 5;

// The mean without the lowest and the highest fifth, its standard error and the error's degrees of
// freedom. Source: Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61
// (1974), here for one sample of differences; the error is that of the winsorised values.
struct TrimmedMean {
  double location;
  double error;
  int freedom;
};

// Throws std::invalid_argument for fewer than kFewestRatios values and for one that is not finite.
TrimmedMean trimmed_mean(std::span<const double> values);

// The value that Student's t with `freedom` >= 1 degrees of freedom stays below with this
// probability, from 0.5 on. Source of the distribution function: Abramowitz and Stegun, Handbook of
// Mathematical Functions (1964), 26.7.3 and 26.7.4. Bisection inverts it.
double t_quantile(double probability, int freedom);

// The first technique's time over the second's.
struct Ratio {
  double value;
  double ci_low;  // 95 % interval
  double ci_high;
  Verdict verdict;
};

// Estimates exp(mean log ratio). faster, slower: the interval that a ratio of 1 misses with
// probability kFalseVerdict lies on one side of 1. same: it does not, and the 95 % interval lies
// within kSameWithin of 1. Empty for fewer than kFewestRatios.
std::optional<Ratio> estimate_ratio(std::span<const double> log_ratios);

// About how many times as many log ratios would give another verdict than undecided, if they lie
// and scatter as these do. Infinite where no number would. Throws as trimmed_mean does.
double effort_to_decide(std::span<const double> log_ratios);

}  // namespace ridgebench
