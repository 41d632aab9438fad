// Statistics of the timing samples of one row: pure functions, no clock, no input or output.
// Samples are seconds per launch in the order in which they were taken; every function but
// middle and lag1_autocorrelation throws std::invalid_argument if one of them is negative or not
// finite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ridgebench {

// Statistics of a row's samples. Times are in seconds.
//
// Quantiles are Hyndman and Fan's type 7, "Sample quantiles in statistical packages" (1996), the
// default of numpy and R. The interval is the 95 % confidence interval of the median within this
// run; the spread between runs is larger, and only repeated processes show it.
struct Summary {
  double median = 0;
  double ci_low = 0;
  double ci_high = 0;
  double min = 0;
  double p10 = 0;
  double p90 = 0;
  std::size_t samples = 0;
};

// Fewest samples for which an exact 95 % order-statistic interval of the median exists: the range
// of n values misses the median with probability 2^(1-n), which is 3.1 % at 6 and 6.3 % at 5.
inline constexpr std::size_t kMinIntervalSamples = 6;

// Summarises at least one sample. `tick_s` is the resolution of one sample: the clock's tick
// divided by the launches that a sample spans; throws std::invalid_argument if it is negative.
//
// Interval: samples are grouped into blocks of 1, 3, 9, ... consecutive ones until the block
// medians show no lag-1 autocorrelation (Fishman, "Grouping observations in digital simulation",
// Management Science 24, 1978), because neighbouring samples share a clock, a temperature and a
// noisy neighbour, and a formula for independent ones would promise too much. Then the order
// statistics of the block medians bound the median whatever their distribution (David and
// Nagaraja, Order Statistics, 2003, section 7.1). Lengths are odd because the median of an odd
// number of independent values has the same population median as one value, however skewed.
// Finally the interval is widened by half a tick on both sides, since a sample represents any time
// within half a tick of it.
//
// Below six samples, and where no six blocks are uncorrelated, it is the whole range of the blocks.
// That is less than 95 %: of n < 6 samples it is 1 - 2^(1-n), and correlation is hard to see in few
// samples (simulated with lag-1 correlation 0.6: 85 % at 7 samples, 94 to 97 % from 30 on).
Summary summarize(std::span<const double> samples, double tick_s);

// The value in the middle, of an even number the upper one; not empty. Reorders the values.
inline double middle(std::vector<double>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Lag-1 autocorrelation of finite values of any sign, clamped to their p10 and p90, so that one
// glitch hides nothing. 0 for values that do not differ.
double lag1_autocorrelation(std::span<const double> values);

// Stopping rule: both ends of the interval lie within `relative_half_width` of the median. Never
// true below kMinIntervalSamples. Sorts the samples, so ask at next_check() only.
bool precise(std::span<const double> samples, double relative_half_width, double tick_s);

// Number of samples at which to ask precise() again: an eighth more, so that all the questions of
// a row together cost about nine times the last one. Fewer checks also give fewer chances to stop
// on an interval that is narrow by luck (simulated, half width 0.5 %, from 30 samples on: an
// interval that stopped the sampling covers the median in 94 % of runs, with lag-1 correlation 0.6
// in 89 to 93 %).
std::size_t next_check(std::size_t samples);

// Warm-up rule: with the samples cut into thirds, the medians of the middle and of the last third
// differ by at most 1 %, and by at most 0.1 % where the change goes on in the direction it had from
// the first third to the middle one. Thirds grow with the series, so a slow warm-up gets more time
// than a fast one. A warm-up that is slow against the first three launches also needs a minimum
// time, which the caller sets. False below three samples.
bool stable_median(std::span<const double> samples);

// A trend over the run: the Mann-Kendall statistic of block medians is beyond 3 standard deviations
// (two-sided p < 0.003), and their Theil-Sen slope (Sen, J. Am. Stat. Assoc. 63, 1968) amounts to
// more than 1 % of the median from the first block to the last. Blocks grow until the medians less
// that slope are uncorrelated: noise that wanders must not count as a trend. False below 7 samples.
bool drifting(std::span<const double> samples);

// Two separate levels: with 5 % trimmed at both ends, some split of the sorted logarithms leaves
// both parts a fifth of the samples and their means apart by more than 2 % and by more than 4.5
// times the standard deviation within the parts (two-class split as in Otsu, IEEE Trans. SMC 9,
// 1979; limit set by simulation: of 30 normal or lognormal samples 0.4 % get there by chance, of 30
// uniform ones 6 %). Logarithms, because noise in times is skewed to the right.
// False below 30 samples, where chance splits them too often, and where a sample is 0.
bool bimodal(std::span<const double> samples);

// Decimal digits of the median that its interval supports, 2 to 5: the last one printed is worth
// at most the interval's width, so rounding moves the median by at most half of that width.
// 2 where there is no 95 % interval.
int significant_digits(const Summary& summary);

// Prints `value`, a quantity proportional or inversely proportional to the median (a rate), in
// plain decimal notation with the digits that its own magnitude and the interval support.
std::string format_with_precision(double value, const Summary& summary);

}  // namespace ridgebench
