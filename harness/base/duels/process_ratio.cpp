#include "harness/base/duels/process_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ridgebench {
namespace {

// From here on the quantile of Student's t is that of the normal.
constexpr int kManyFreedom = 1000;
constexpr double kSeenDifference = 0.99;

// The mean log ratio of some processes, and half widths about it.
struct OverProcesses {
  double mean;
  double interval;  // of 95 %
  double verdict;   // a mean that is further from 1 decides
};

OverProcesses over_processes(std::span<const double> log_ratios, std::span<const double> errors) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (log_ratios.size() != errors.size() || log_ratios.size() < kFewestProcesses ||
      !std::ranges::all_of(log_ratios, finite) || !std::ranges::all_of(errors, finite)) {
    throw std::invalid_argument("not the log ratios and errors of enough processes");
  }
  const auto count = static_cast<double>(log_ratios.size());
  const double mean = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0) / count;
  double squares = 0;
  for (const double value : log_ratios) squares += std::pow(value - mean, 2);
  const double error = std::sqrt(squares / (count - 1) / count);
  const double within =
      std::inner_product(errors.begin(), errors.end(), errors.begin(), 0.0) / count;
  const double allowed = std::sqrt((std::pow(kBetweenProcesses, 2) + within) / count);
  const auto freedom = static_cast<int>(log_ratios.size()) - 1;
  const auto two_sided = [](double probability, int degrees) {
    return t_quantile((1 + probability) / 2, degrees);
  };
  return {mean, two_sided(0.95, freedom) * error,
          std::max(two_sided(1 - kFalseVerdict, kManyFreedom) * allowed,
                   two_sided(kSeenDifference, freedom) * error)};
}

}  // namespace

std::optional<Ratio> estimate_over_processes(std::span<const double> log_ratios,
                                             std::span<const double> errors) {
  if (log_ratios.size() < kFewestProcesses) return std::nullopt;
  const OverProcesses found = over_processes(log_ratios, errors);
  const double low = found.mean - found.interval;
  const double high = found.mean + found.interval;
  Verdict verdict = Verdict::undecided;
  if (found.mean + found.verdict < 0) verdict = Verdict::faster;
  if (found.mean - found.verdict > 0) verdict = Verdict::slower;
  if (is_same(low, high)) verdict = Verdict::same;
  return Ratio{std::exp(found.mean), std::exp(low), std::exp(high), verdict};
}

// A half width falls with the root of the number of processes; that Student's quantiles fall too is
// left out.
double effort_over_processes(std::span<const double> log_ratios, std::span<const double> errors) {
  const OverProcesses found = over_processes(log_ratios, errors);
  const double from_equal = std::abs(found.mean);
  const double to_border = std::log1p(kSameWithin) - from_equal;
  const double to_decide = std::pow(found.verdict / from_equal, 2);
  return to_border <= 0 ? to_decide : std::fmin(to_decide, std::pow(found.interval / to_border, 2));
}

}  // namespace ridgebench
