#include "harness/base/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include "tests/harness/base/synthetic_samples.hpp"

namespace ridgebench {
namespace {

Samples one_to(int last) {
  Samples samples(static_cast<std::size_t>(last));
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

// 30 values 1 to 30 in an order without trend or correlation: multiples of 12 modulo 31.
Samples scattered_30() {
  Samples samples;
  for (int i = 1; i <= 30; ++i) {
    samples.push_back(i * 12 % 31);
  }
  return samples;
}

TEST(Summary, OfSevenIsTheirWholeRange) {
  const Summary summary = summarize(Samples{4, 1, 6, 2, 7, 3, 5}, 0);
  EXPECT_EQ(summary.samples, 7U);
  EXPECT_DOUBLE_EQ(summary.median, 4);
  EXPECT_DOUBLE_EQ(summary.ci_low, 1);  // ranks 1 and 7 cover with 98.4 %, 2 and 6 only with 87.5 %
  EXPECT_DOUBLE_EQ(summary.ci_high, 7);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.p10, 1.6);  // type 7: position 0.1 * 6 from the smallest
  EXPECT_DOUBLE_EQ(summary.p90, 6.4);
}

TEST(Summary, OfThirtyUsesRanksTenAndTwentyOne) {
  const Summary summary = summarize(scattered_30(), 0);
  EXPECT_DOUBLE_EQ(summary.median, 15.5);
  EXPECT_DOUBLE_EQ(summary.ci_low, 10);  // the textbook ranks for n = 30: 95.7 %
  EXPECT_DOUBLE_EQ(summary.ci_high, 21);
  EXPECT_DOUBLE_EQ(summary.p10, 3.9);
  EXPECT_DOUBLE_EQ(summary.p90, 27.1);
}

TEST(Summary, OfFewerThanSixIsTheirRange) {
  const Summary one = summarize(Samples{3}, 0);
  EXPECT_DOUBLE_EQ(one.median, 3);
  EXPECT_DOUBLE_EQ(one.ci_low, 3);
  EXPECT_DOUBLE_EQ(one.ci_high, 3);
  EXPECT_DOUBLE_EQ(one.p10, 3);
  const Summary two = summarize(Samples{3, 1}, 0);
  EXPECT_DOUBLE_EQ(two.median, 2);
  EXPECT_DOUBLE_EQ(two.ci_low, 1);
  EXPECT_DOUBLE_EQ(two.ci_high, 3);
  EXPECT_DOUBLE_EQ(two.p90, 2.8);
}

TEST(Summary, GroupsCorrelatedSamples) {
  // 45 rising samples make 15 blocks of three with medians 2, 5, ..., 44. The medians are
  // correlated too. There would be only five blocks of nine, so the interval is the range of the 15
  // medians.
  Samples samples = one_to(45);
  const Summary summary = summarize(samples, 0);
  EXPECT_DOUBLE_EQ(summary.median, 23);
  EXPECT_DOUBLE_EQ(summary.ci_low, 2);
  EXPECT_DOUBLE_EQ(summary.ci_high, 44);
  samples[21] = 1e6;  // a glitch does not hide the correlation
  EXPECT_DOUBLE_EQ(summarize(samples, 0).ci_low, 2);
}

TEST(Summary, IntervalContainsTheMedian) {
  // 100 blocks of three, 74 of them {4, 5, 6} and 26 scattered ones {7, 8, 9}: most block medians
  // are 5, but the median of all samples is 6.
  Samples samples;
  for (int i = 0; i < 100; ++i) {
    const double level = i * 37 % 100 < 26 ? 8 : 5;
    samples.insert(samples.end(), {level - 1, level, level + 1});
  }
  const Summary summary = summarize(samples, 0);
  EXPECT_DOUBLE_EQ(summary.median, 6);
  EXPECT_DOUBLE_EQ(summary.ci_low, 5);
  EXPECT_DOUBLE_EQ(summary.ci_high, 6);
  for (double& value : samples) {
    value = 13 - value;
  }
  EXPECT_DOUBLE_EQ(summarize(samples, 0).ci_low, 7);
}

TEST(Summary, IsNeverNarrowerThanATick) {
  const Samples constant(50, 8.0);
  const Summary ticked = summarize(constant, 0.5);
  EXPECT_DOUBLE_EQ(ticked.ci_low, 7.75);
  EXPECT_DOUBLE_EQ(ticked.ci_high, 8.25);
  const Summary exact = summarize(constant, 0);
  EXPECT_DOUBLE_EQ(exact.ci_low, 8);
  EXPECT_DOUBLE_EQ(exact.ci_high, 8);
  EXPECT_DOUBLE_EQ(summarize(Samples{0.1}, 0.5).ci_low, 0);  // a time is not negative
}

TEST(Summary, HandlesTies) {
  const Summary summary = summarize(Samples{1, 2, 2, 2, 2, 1, 2, 2, 3, 2, 2, 2}, 0);
  EXPECT_DOUBLE_EQ(summary.median, 2);
  EXPECT_DOUBLE_EQ(summary.ci_low, 2);
  EXPECT_DOUBLE_EQ(summary.ci_high, 2);
  EXPECT_DOUBLE_EQ(summary.p10, 1.1);
  Samples glitched(45, 0.1);
  glitched[3] = glitched[4] = 0.2;
  EXPECT_DOUBLE_EQ(summarize(glitched, 0).ci_high, 0.1);
}

TEST(Summary, RefusesWhatIsNoTime) {
  EXPECT_THROW(summarize(Samples{}, 0), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{1, -1}, 0), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{std::nan("")}, 0), std::invalid_argument);
  EXPECT_THROW(summarize(Samples{1}, -1), std::invalid_argument);
}

TEST(Summary, ScalesWithTheTimes) {
  constexpr double kFactor = 1.0 / 4096;  // a power of two: no rounding
  Random random(1);
  const Samples samples = normal_samples(40, random, 0.1, 0.6);
  const Summary before = summarize(samples, 0.25);
  const Summary after = summarize(scaled(kFactor, samples), 0.25 * kFactor);
  EXPECT_DOUBLE_EQ(after.median, kFactor * before.median);
  EXPECT_DOUBLE_EQ(after.ci_low, kFactor * before.ci_low);
  EXPECT_DOUBLE_EQ(after.ci_high, kFactor * before.ci_high);
  EXPECT_DOUBLE_EQ(after.p10, kFactor * before.p10);
  EXPECT_DOUBLE_EQ(after.p90, kFactor * before.p90);
  EXPECT_EQ(significant_digits(after), significant_digits(before));
}

TEST(Summary, QuantilesIgnoreTheOrder) {
  Random random(2);
  Samples samples = lognormal_samples(101, random, 0.5);
  const Summary before = summarize(samples, 0);
  std::ranges::shuffle(samples, random);
  const Summary after = summarize(samples, 0);
  EXPECT_DOUBLE_EQ(after.median, before.median);
  EXPECT_DOUBLE_EQ(after.min, before.min);
  EXPECT_DOUBLE_EQ(after.p10, before.p10);
  EXPECT_DOUBLE_EQ(after.p90, before.p90);
}

TEST(Precise, ComparesBothEndsWithTheMedian) {
  const Samples samples = scattered_30();  // median 15.5, interval 10 to 21
  EXPECT_TRUE(precise(samples, 5.6 / 15.5, 0));
  EXPECT_FALSE(precise(samples, 5.4 / 15.5, 0));
  EXPECT_FALSE(precise(samples, 5.6 / 15.5, 0.4));
}

TEST(Precise, LooksAtBothSides) {
  Samples wide_above = scattered_30();
  Samples wide_below = wide_above;
  for (double& value : wide_above) {
    value = std::max(value, 15.5);  // median 15.75, interval 15.5 to 21
  }
  for (double& value : wide_below) {
    value = std::min(value, 15.5);  // median 15.25, interval 10 to 15.5
  }
  EXPECT_FALSE(precise(wide_above, 0.3, 0));
  EXPECT_TRUE(precise(wide_above, 0.4, 0));
  EXPECT_FALSE(precise(wide_below, 0.3, 0));
  EXPECT_TRUE(precise(wide_below, 0.4, 0));
}

TEST(Precise, NeedsSixSamples) {
  EXPECT_FALSE(precise(Samples{}, 0.005, 0));
  EXPECT_FALSE(precise(Samples(5, 1.0), 0.005, 0));
  EXPECT_TRUE(precise(Samples(6, 1.0), 0.005, 0));
}

TEST(NextCheck, GrowsByAnEighth) {
  EXPECT_EQ(next_check(0), 1U);
  EXPECT_EQ(next_check(7), 8U);
  EXPECT_EQ(next_check(80), 90U);
}

TEST(StableMedian, ComparesTheLastTwoThirds) {
  EXPECT_FALSE(stable_median(Samples{1, 1}));
  EXPECT_TRUE(stable_median(Samples{9, 1, 1.009}));
  EXPECT_FALSE(stable_median(Samples{1, 1, 1.011}));
  EXPECT_FALSE(stable_median(Samples{1.020, 1.010, 1.002}));  // still falling
  EXPECT_TRUE(stable_median(Samples{1.020, 1.0009, 1.0}));
  EXPECT_TRUE(stable_median(Samples{9, 5, 1, 1, 1, 1}));
  EXPECT_FALSE(stable_median(Samples{9, 9, 9, 5, 5, 5, 1, 1, 1}));
}

TEST(StableMedian, WaitsForASlowWarmUp) {
  // The time falls from 2 to 1 with a decay of 50 launches, by 1 % per launch at first.
  Samples samples;
  while (!stable_median(samples)) {
    samples.push_back(1 + std::exp(-static_cast<double>(samples.size()) / 50));
  }
  EXPECT_GT(samples.size(), 200U);
  EXPECT_LT(samples.back(), 1.01);
}

Summary with_interval(double median, double half_width, std::size_t samples = 30) {
  return {.median = median,
          .ci_low = median - half_width,
          .ci_high = median + half_width,
          .samples = samples};
}

TEST(SignificantDigits, FollowTheInterval) {
  EXPECT_EQ(significant_digits(with_interval(1.234, 0.006)), 3);    // width 0.012: 1.23
  EXPECT_EQ(significant_digits(with_interval(9.876, 0.045)), 3);    // width 0.09: 9.88
  EXPECT_EQ(significant_digits(with_interval(1.234, 0.0006)), 4);   // width 0.0012: 1.234
  EXPECT_EQ(significant_digits(with_interval(1.234e-6, 6e-9)), 3);  // the unit does not matter
  EXPECT_EQ(significant_digits(with_interval(1.234, 0)), 5);
  EXPECT_EQ(significant_digits(with_interval(1.234, 1)), 2);
  EXPECT_EQ(significant_digits(with_interval(1.234, 0, 5)), 2);
  EXPECT_EQ(significant_digits(with_interval(0, 0)), 2);
}

TEST(FormatWithPrecision, PrintsTheDigitsSupported) {
  const Summary half_percent = with_interval(2e-3, 1e-5);  // relative width 1 %
  EXPECT_EQ(format_with_precision(123.456, half_percent), "123");
  EXPECT_EQ(format_with_precision(12345.6, half_percent), "12300");
  EXPECT_EQ(format_with_precision(1.23456, half_percent), "1.23");
  EXPECT_EQ(format_with_precision(0.0123456, half_percent), "0.0123");
  EXPECT_EQ(format_with_precision(-1.23456, half_percent), "-1.23");
  EXPECT_EQ(format_with_precision(9.996, half_percent), "10.0");
  EXPECT_EQ(format_with_precision(0, half_percent), "0");
  EXPECT_EQ(format_with_precision(123.456, with_interval(1, 0)), "123.46");
}

}  // namespace
}  // namespace ridgebench
