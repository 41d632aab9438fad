#include "harness/base/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "harness/base/statistics.hpp"

namespace ridgebench {
namespace {

constexpr double kTrim = 0.2;
constexpr double kTwoSided95 = 0.975;

// The probability that |T| < t, for t >= 0.
double within(double t, int freedom) {
  const double theta = std::atan(t / std::sqrt(freedom));
  const double sine = std::sin(theta);
  const double cosine = std::cos(theta);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = freedom == 1 ? 0 : term;
  for (int i = odd ? 3 : 2; i <= freedom - 2; i += 2) {
    term *= (i - 1) * cosine * cosine / i;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

// How many times as many values have an interval of this probability whose half is `distance`. More
// values have a smaller quantile, too, so that the number is a fixed point.
double times_to_reach(const TrimmedMean& mean, double probability, double distance) {
  constexpr double kMostFreedom = 1000;  // from here on the quantile is that of the normal
  constexpr int kSteps = 30;
  double times = 1;
  for (int i = 0; i < kSteps; ++i) {
    const double freedom = std::clamp((mean.freedom + 1) * times - 1, 1.0, kMostFreedom);
    const double reach = t_quantile(probability, static_cast<int>(freedom)) * mean.error;
    times = std::sqrt(times * std::pow(reach / distance, 2));
  }
  return times;
}

// One-sided 5 % limit of a standard normal.
constexpr double kCorrelated = 1.645;
// Largest correlations that widen an interval and a verdict.
constexpr double kMostCorrelation = 0.9;
constexpr double kMostCorrelationOfVerdict = 0.95;
constexpr double kErrorsOfVerdict = 3;

// Means of blocks of neighbours. Values at the front that fill no block are left out.
std::vector<double> block_means(std::span<const double> values, std::size_t length) {
  std::vector<double> means;
  for (std::size_t end = values.size() % length + length; end <= values.size(); end += length) {
    const auto block = values.subspan(end - length, length);
    means.push_back(std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(length));
  }
  return means;
}

bool correlated(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  return lag1_autocorrelation(values) > kCorrelated / std::sqrt(count) - 1 / count;
}

double without_bias(double correlation, double count) {
  return (count * correlation + 1) / (count - 4);
}

double widening(double correlation) { return std::sqrt((1 + correlation) / (1 - correlation)); }

TrimmedMean widen(TrimmedMean mean, double by) {
  const double counted = (mean.freedom + 1) / by;
  return {mean.location, mean.error * by, std::max(1, static_cast<int>(counted) - 1)};
}

BlockedMean mean_by(RatioRule rule, std::span<const double> log_ratios) {
  if (rule == RatioRule::blocked) return blocked_mean(log_ratios);
  const TrimmedMean mean = trimmed_mean(log_ratios);
  return {mean, mean};
}

// A side of 1, or undecided.
Verdict side_of(const TrimmedMean& mean) {
  const double reach = t_quantile(1 - kFalseVerdict / 2, mean.freedom) * mean.error;
  if (mean.location + reach < 0) return Verdict::faster;
  if (mean.location - reach > 0) return Verdict::slower;
  return Verdict::undecided;
}

}  // namespace

TrimmedMean trimmed_mean(std::span<const double> values) {
  if (values.size() < kFewestRatios) throw std::invalid_argument("too few values to trim");
  if (!std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
    throw std::invalid_argument("a value is not finite");
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(sorted.size());
  const auto cut = static_cast<std::size_t>(kTrim * count);
  const double lowest = sorted[cut];
  const double highest = sorted[sorted.size() - cut - 1];
  double kept = 0;  // sums of the values that trimming leaves, and of all winsorised values
  double all = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i >= cut && i < sorted.size() - cut) kept += sorted[i];
    all += std::clamp(sorted[i], lowest, highest);
  }
  double squares = 0;
  for (const double value : sorted) {
    squares += std::pow(std::clamp(value, lowest, highest) - all / count, 2);
  }
  const auto left = static_cast<double>(sorted.size() - 2 * cut);
  return {kept / left, std::sqrt(squares / (left * (left - 1))), static_cast<int>(left) - 1};
}

bool is_same(double low, double high) {
  return low > std::log1p(-kSameWithin) && high < std::log1p(kSameWithin);
}

double t_quantile(double probability, int freedom) {
  const double wanted = 2 * probability - 1;
  double low = 0;
  double high = 1;
  while (within(high, freedom) < wanted) high *= 2;
  constexpr int kHalvings = 60;  // down to the last bits of a double
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (within(middle, freedom) < wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

BlockedMean blocked_mean(std::span<const double> log_ratios) {
  BlockedMean result;
  bool found = false;
  std::size_t next = 1;
  for (; log_ratios.size() / next >= kFewestTestedBlocks; next *= 2) {
    if (!correlated(block_means(log_ratios, next))) continue;
    found = true;
    const bool longer = log_ratios.size() / (2 * next) >= kFewestTestedBlocks;
    result.block = longer ? 2 * next : next;
  }
  const std::vector<double> blocks = block_means(log_ratios, result.block);
  result.mean = result.for_verdict = trimmed_mean(blocks);
  if (blocks.size() < kFewestTestedBlocks) return result;
  const auto count = static_cast<double>(blocks.size());
  const double left =
      std::clamp(without_bias(lag1_autocorrelation(blocks), count), 0.0, kMostCorrelation);
  result.widened = widening(left);
  result.mean = widen(result.mean, result.widened);
  if (found) {
    const double error = std::sqrt((1 - left * left) / count);
    result.for_verdict.error *=
        widening(std::min(kMostCorrelationOfVerdict, left + kErrorsOfVerdict * error));
  } else {
    result.for_verdict = result.mean;
  }
  return result;
}

std::optional<Ratio> estimate_ratio(std::span<const double> log_ratios, RatioRule rule) {
  if (log_ratios.size() < kFewestRatios) return std::nullopt;
  const BlockedMean found = mean_by(rule, log_ratios);
  const TrimmedMean& mean = found.mean;
  const double reach = t_quantile(kTwoSided95, mean.freedom) * mean.error;
  const double low = mean.location - reach;
  const double high = mean.location + reach;
  Verdict verdict = side_of(found.for_verdict);
  const bool prefers_same = rule != RatioRule::version_1 || verdict == Verdict::undecided;
  if (prefers_same && is_same(low, high)) verdict = Verdict::same;
  return Ratio{std::exp(mean.location),
               std::exp(low),
               std::exp(high),
               verdict,
               static_cast<std::int64_t>(found.block),
               found.widened};
}

double effort_to_decide(std::span<const double> log_ratios, RatioRule rule) {
  const BlockedMean found = mean_by(rule, log_ratios);
  const TrimmedMean& mean = found.mean;
  const double from_equal = std::abs(mean.location);
  const double to_border = std::log1p(kSameWithin) - from_equal;
  const double times = times_to_reach(found.for_verdict, 1 - kFalseVerdict / 2, from_equal);
  if (to_border <= 0) return times;
  return std::fmin(times, times_to_reach(mean, kTwoSided95, to_border));
}

}  // namespace ridgebench
