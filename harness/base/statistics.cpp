#include "harness/base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace ridgebench {
namespace {

// The change of level, relative to the median, that warm-up may leave and drift must exceed: one
// value, so that what warm-up accepts is not flagged afterwards.
constexpr double kVisibleChange = 0.01;

// Seven values in order are the fewest whose Mann-Kendall statistic is beyond 3 deviations;
// grouping stops at ten blocks so that a clear trend through noise stays beyond it.
constexpr std::size_t kMinDriftSamples = 7;
constexpr std::size_t kMinDriftBlocks = 10;
constexpr std::size_t kMinBimodalSamples = 30;

double as_double(std::size_t count) { return static_cast<double>(count); }

void require_times(std::span<const double> samples) {
  const auto is_time = [](double t) { return std::isfinite(t) && t >= 0; };
  if (!std::ranges::all_of(samples, is_time)) {
    throw std::invalid_argument("a time sample is negative or not finite");
  }
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

double quantile(std::span<const double> sorted, double probability) {
  const double position = probability * as_double(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - as_double(below));
}

double median_of(std::span<const double> values) { return quantile(sorted_copy(values), 0.5); }

// Medians of consecutive blocks, in order. Samples that fill no block are dropped at the front,
// next to the warm-up.
std::vector<double> block_medians(std::span<const double> samples, std::size_t length) {
  std::vector<double> medians;
  for (std::size_t i = samples.size() % length; i < samples.size(); i += length) {
    medians.push_back(median_of(samples.subspan(i, length)));
  }
  return medians;
}

// The limit is one standard error of an independent series, but at most 0.1, which would make an
// interval 10 % too narrow.
bool uncorrelated(std::span<const double> values) {
  return lag1_autocorrelation(values) <= std::min(0.1, 1.0 / std::sqrt(as_double(values.size())));
}

// Largest rank k, from 1, such that the k-th smallest and k-th largest of n independent values
// enclose their median with 95 % confidence: the 2.5 % quantile of Binomial(n, 1/2), by the normal
// approximation with continuity correction. Exact for n from 6 to 5000, but one too wide at 32.
std::size_t lower_rank(std::size_t n) {
  const double rank = (as_double(n) + 1 - 1.959964 * std::sqrt(as_double(n))) / 2;
  return static_cast<std::size_t>(std::max(1.0, rank));
}

struct Trend {
  double concordance = 0;  // Kendall's S: rising pairs minus falling ones
  double slope = 0;        // Theil-Sen: the median slope of all pairs, per step
};

Trend trend_of(std::span<const double> values) {
  Trend trend;
  std::vector<double> slopes;
  for (std::size_t last = 1; last < values.size(); ++last) {
    for (std::size_t first = 0; first < last; ++first) {
      const double rise = values[last] - values[first];
      slopes.push_back(rise / as_double(last - first));
      trend.concordance += static_cast<int>(rise > 0) - static_cast<int>(rise < 0);
    }
  }
  trend.slope = median_of(slopes);
  return trend;
}

std::vector<double> without_slope(std::vector<double> values, double slope) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] -= slope * as_double(i);
  }
  return values;
}

// Digits of a positive value down to the largest power of ten that is not above its uncertainty.
int digits_of(double value, const Summary& summary) {
  const double width = (summary.ci_high - summary.ci_low) / summary.median * value;
  if (summary.samples < kMinIntervalSamples || !std::isfinite(width)) {
    return 2;
  }
  const double digits = std::floor(std::log10(value)) - std::floor(std::log10(width)) + 1;
  return static_cast<int>(std::clamp(digits, 2.0, 5.0));
}

}  // namespace

double lag1_autocorrelation(std::span<const double> values) {
  const std::vector<double> sorted = sorted_copy(values);
  const double p10 = quantile(sorted, 0.1);
  const double p90 = quantile(sorted, 0.9);
  if (p10 == p90) {
    return 0;  // constant; rounding of the mean would look like correlation
  }
  double mean = 0;
  for (const double value : values) {
    mean += std::clamp(value, p10, p90) / as_double(values.size());
  }
  double covariance = 0;
  double variance = 0;
  for (double previous = 0; const double value : values) {
    const double centred = std::clamp(value, p10, p90) - mean;
    covariance += previous * centred;
    variance += centred * centred;
    previous = centred;
  }
  return covariance / variance;
}

Summary summarize(std::span<const double> samples, double tick_s) {
  require_times(samples);
  if (samples.empty() || !std::isfinite(tick_s) || tick_s < 0) {
    throw std::invalid_argument("a summary needs a sample and a tick of 0 or more seconds");
  }
  const std::vector<double> sorted = sorted_copy(samples);
  const double median = quantile(sorted, 0.5);
  std::size_t length = 1;
  std::vector<double> blocks(samples.begin(), samples.end());
  while (!uncorrelated(blocks) && samples.size() / (3 * length) >= kMinIntervalSamples) {
    length *= 3;
    blocks = block_medians(samples, length);
  }
  const std::size_t rank = uncorrelated(blocks) ? lower_rank(blocks.size()) : 1;
  std::ranges::sort(blocks);
  // The median of the samples is not the median of the blocks and can, rarely, lie outside.
  const double low = std::min(median, blocks[rank - 1]);
  const double high = std::max(median, blocks[blocks.size() - rank]);
  return {.median = median,
          .ci_low = std::max(0.0, low - tick_s / 2),
          .ci_high = high + tick_s / 2,
          .min = sorted.front(),
          .p10 = quantile(sorted, 0.1),
          .p90 = quantile(sorted, 0.9),
          .samples = samples.size()};
}

bool precise(std::span<const double> samples, double relative_half_width, double tick_s) {
  if (samples.size() < kMinIntervalSamples) {
    return false;
  }
  const Summary summary = summarize(samples, tick_s);
  const double margin = relative_half_width * summary.median;
  return summary.ci_high - summary.median <= margin && summary.median - summary.ci_low <= margin;
}

std::size_t next_check(std::size_t samples) {
  return samples + std::max<std::size_t>(1, samples / 8);
}

bool stable_median(std::span<const double> samples) {
  require_times(samples);
  const std::size_t third = samples.size() / 3;
  if (third == 0) {
    return false;
  }
  const double first = median_of(samples.last(3 * third).first(third));
  const double middle = median_of(samples.last(2 * third).first(third));
  const double last = median_of(samples.last(third));
  const bool goes_on = (last - middle) * (middle - first) > 0;
  return std::abs(last - middle) <= (goes_on ? kVisibleChange / 10 : kVisibleChange) * last;
}

bool drifting(std::span<const double> samples) {
  require_times(samples);
  if (samples.size() < kMinDriftSamples) {
    return false;
  }
  // All pairs are compared, so a long series starts from longer blocks: at most 119 of them.
  std::size_t length = (samples.size() / 60) | 1U;
  std::vector<double> blocks = block_medians(samples, length);
  Trend trend = trend_of(blocks);
  while (!uncorrelated(without_slope(blocks, trend.slope)) &&
         samples.size() / (3 * length) >= kMinDriftBlocks) {
    length *= 3;
    blocks = block_medians(samples, length);
    trend = trend_of(blocks);
  }
  const double n = as_double(blocks.size());
  // Kendall's correction for ties is left out: it only makes the variance smaller.
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  return std::abs(trend.concordance) - 1 > 3 * deviation &&
         std::abs(trend.slope) * (n - 1) > kVisibleChange * median_of(blocks);
}

bool bimodal(std::span<const double> samples) {
  require_times(samples);
  std::vector<double> logs = sorted_copy(samples);
  if (logs.size() < kMinBimodalSamples || logs.front() <= 0) {
    return false;
  }
  // Values relative to one sample keep the sums of squares below free of cancellation.
  std::ranges::transform(logs, logs.begin(),
                         [unit = samples.front()](double t) { return std::log(t / unit); });
  const std::size_t trimmed = logs.size() / 20;
  const std::size_t smallest_part = logs.size() / 5 - trimmed;
  const auto kept = std::span(logs).subspan(trimmed, logs.size() - 2 * trimmed);
  const double total = std::reduce(kept.begin(), kept.end());
  const double squares = std::inner_product(kept.begin(), kept.end(), kept.begin(), 0.0);
  double sum = 0;
  for (std::size_t below = 1; below + smallest_part <= kept.size(); ++below) {
    sum += kept[below - 1];
    const double mean_below = sum / as_double(below);
    const double mean_above = (total - sum) / as_double(kept.size() - below);
    const double within = squares - sum * mean_below - (total - sum) * mean_above;
    const double deviation = std::sqrt(std::max(0.0, within) / as_double(kept.size() - 2));
    const double separation = mean_above - mean_below;
    if (below >= smallest_part && separation > std::max(std::log(1.02), 4.5 * deviation)) {
      return true;
    }
  }
  return false;
}

int significant_digits(const Summary& summary) { return digits_of(summary.median, summary); }

std::string format_with_precision(double value, const Summary& summary) {
  if (!std::isfinite(value) || value == 0) {
    return fmt::format("{}", value);
  }
  const int digits = digits_of(std::abs(value), summary);
  // The value is rounded first: the carry of 9.996 to 10.0 removes a decimal.
  const double rounded = std::stod(fmt::format("{:.{}e}", value, digits - 1));
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
  return fmt::format("{:.{}f}", rounded, std::max(0, digits - 1 - exponent));
}

}  // namespace ridgebench
