#include "harness/base/ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace ridgebench {
namespace {

// The expected values are those of roofline/ridgebench/judge/gate.py for the same numbers.
TEST(TrimmedMean, IsThatOfTheGate) {
  const std::vector<double> values{0.011,  0.009,  0.0105, 0.0098, 0.25,
                                   0.0102, 0.0093, -0.3,   0.0101, 0.0107};
  const TrimmedMean mean = trimmed_mean(values);
  EXPECT_NEAR(mean.location, 0.0101, 1e-15);
  EXPECT_NEAR(mean.error, 0.0003288363321370274, 1e-15);
  EXPECT_EQ(mean.freedom, 5);
  const std::optional<Ratio> ratio = estimate_ratio(values);
  ASSERT_TRUE(ratio.has_value());
  EXPECT_NEAR(ratio->ci_low, std::exp(0.009254699297389545), 1e-11);
  EXPECT_NEAR(ratio->ci_high, std::exp(0.010945300702610454), 1e-11);
}

TEST(TrimmedMean, OfFiveValuesKeepsThree) {
  const TrimmedMean mean = trimmed_mean(std::vector<double>{0.001, -0.002, 0.003, 0.0005, -0.0007});
  EXPECT_NEAR(mean.location, 0.0002666666666666667, 1e-17);
  EXPECT_NEAR(mean.error, 0.000705691150575094, 1e-17);
  EXPECT_EQ(mean.freedom, 2);
}

TEST(TrimmedMean, RefusesTooFewValuesAndNoNumbers) {
  EXPECT_THROW(trimmed_mean(std::vector<double>(4)), std::invalid_argument);
  std::vector<double> values(5);
  values[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(trimmed_mean(values), std::invalid_argument);
}

// The expected values are those of scipy.special.stdtrit, which is right to some 1e-9.
TEST(TQuantile, AgreesWithScipy) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.706204736432095, 1e-9);
  EXPECT_NEAR(t_quantile(0.975, 2), 4.302652729911275, 1e-8);
  EXPECT_NEAR(t_quantile(0.9, 4), 1.533206273713144, 1e-8);
  EXPECT_NEAR(t_quantile(0.975, 119), 1.980099876426006, 1e-8);
  EXPECT_NEAR(t_quantile(0.99995, 5), 11.17771007032178, 1e-8);
  EXPECT_NEAR(t_quantile(0.99995, 119), 4.026557411758936, 1e-8);
  EXPECT_NEAR(t_quantile(0.5, 3), 0, 1e-15);
}

std::vector<double> around(double location, double spread) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) {  // neighbours are uncorrelated
    for (const double step : {-2, -1, 0, 1, 2}) values.push_back(location + spread * step);
  }
  return values;
}

Verdict verdict(const std::vector<double>& log_ratios) {
  return estimate_ratio(log_ratios).value().verdict;
}

TEST(EstimateRatio, NamesTheSideThatIsCertain) {
  EXPECT_EQ(verdict(around(-0.005, 0.002)), Verdict::faster);
  EXPECT_EQ(verdict(around(0.005, 0.002)), Verdict::slower);
}

TEST(EstimateRatio, CallsTheSameOnlyWhatLiesWithinHalfAPercent) {
  EXPECT_EQ(verdict(around(0, 0.002)), Verdict::same);
  EXPECT_EQ(verdict(around(0, 0.05)), Verdict::undecided);
  EXPECT_EQ(verdict(around(0.004, 0.01)), Verdict::undecided) << "the interval leaves the margin";
}

TEST(EstimateRatio, NeedsFiveLogRatios) {
  EXPECT_FALSE(estimate_ratio(std::vector<double>(4)).has_value());
  EXPECT_EQ(verdict(std::vector<double>(5)), Verdict::same);
}

// Noise with outliers, as of a host whose neighbours take the processor now and then.
TEST(EstimateRatio, IsWrongAboutEqualTechniquesAsRarelyAsItSays) {
  std::mt19937_64 random(1);
  std::normal_distribution<> noise(0, 0.01);
  std::uniform_real_distribution<> uniform(0, 1);
  int wrong = 0;
  int outside = 0;
  constexpr int kTrials = 10000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(50);
    for (double& value : values) value = noise(random) * (uniform(random) < 0.1 ? 10 : 1);
    const Ratio ratio = estimate_ratio(values).value();
    wrong += ratio.verdict == Verdict::faster || ratio.verdict == Verdict::slower ? 1 : 0;
    outside += ratio.ci_low > 1 || ratio.ci_high < 1 ? 1 : 0;
  }
  EXPECT_LE(wrong, 5);  // 1 is expected
  EXPECT_LE(outside, kTrials * 6 / 100);
  EXPECT_GE(outside, kTrials * 3 / 100);
}

// Log ratios around 0 with this lag-1 correlation.
std::vector<double> wandering(std::size_t count, double correlation, double deviation,
                              std::mt19937_64& random) {
  std::normal_distribution<> normal;
  std::vector<double> values(count);
  double now = normal(random);
  for (double& value : values) {
    now = correlation * now + std::sqrt(1 - correlation * correlation) * normal(random);
    value = deviation * now;
  }
  return values;
}

// Covered intervals, and verdicts that one of two equal techniques is faster.
struct Tally {
  int covered = 0;
  int wrong = 0;
};
Tally tally(int duels, std::size_t count, double correlation, double deviation) {
  std::mt19937_64 random(1);
  Tally found;
  for (int i = 0; i < duels; ++i) {
    const Ratio ratio = estimate_ratio(wandering(count, correlation, deviation, random)).value();
    found.covered += ratio.ci_low <= 1 && ratio.ci_high >= 1 ? 1 : 0;
    found.wrong += ratio.verdict == Verdict::faster || ratio.verdict == Verdict::slower ? 1 : 0;
  }
  return found;
}

TEST(CorrelatedQuads, AreCoveredBy95PercentOfTheIntervals) {
  for (const double correlation : {0.0, 0.3, 0.5, 0.7, 0.9, 0.95}) {
    for (const std::size_t count : {100U, 200U, 400U}) {
      const int covered = tally(1000, count, correlation, 0.01).covered;
      EXPECT_GE(covered, 930) << correlation << " at " << count;
      EXPECT_LE(covered, 970) << correlation << " at " << count;
    }
  }
}

// What the header says of short series, which do not show all of their correlation.
TEST(CorrelatedQuads, OfShortSeriesAreCoveredLessOften) {
  EXPECT_GE(tally(1000, 64, 0.9, 0.01).covered, 930);
  EXPECT_GE(tally(1000, 32, 0.9, 0.01).covered, 900);
  EXPECT_LT(tally(1000, 16, 0.9, 0.01).covered, 900);
}

TEST(CorrelatedQuads, OfEqualTechniquesAreNeverCalledFasterOrSlower) {
  EXPECT_EQ(tally(3000, 200, 0.9, 0.01).wrong, 0) << "0.3 are expected";
  EXPECT_EQ(tally(3000, 200, 0.9, 0.002).wrong, 0);
  EXPECT_EQ(tally(3000, 137, 0.9, 0.05).wrong, 0);
}

// Without blocks, that is what the same duels would have been called.
TEST(CorrelatedQuads, AsIndependentOnesWouldDeceive) {
  std::mt19937_64 random(1);
  int covered = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto values = wandering(200, 0.9, 0.01, random);
    const Ratio ratio = estimate_ratio(values, RatioRule::version_1).value();
    covered += ratio.ci_low <= 1 && ratio.ci_high >= 1 ? 1 : 0;
  }
  EXPECT_LT(covered, 500);
}

TEST(BlockedMean, AveragesNeighboursUntilTheyAreUncorrelated) {
  std::mt19937_64 random(1);
  const std::vector<double> values = wandering(400, 0.9, 0.01, random);
  const BlockedMean found = blocked_mean(values);
  EXPECT_GE(found.block, 8U);
  EXPECT_GT(found.mean.error, 2 * trimmed_mean(values).error);
  EXPECT_GT(found.for_verdict.error, found.mean.error);
  EXPECT_EQ(blocked_mean(around(0, 0.01)).block, 1U);
}

TEST(BlockedMean, OfOppositeNeighboursIsThatOfIndependentOnes) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back((i % 2 == 0 ? 0.01 : -0.01) + 1e-4 * (i % 7));
  const BlockedMean found = blocked_mean(values);
  EXPECT_EQ(found.block, 1U);
  EXPECT_EQ(found.widened, 1);
  EXPECT_EQ(found.mean.error, trimmed_mean(values).error);
}

TEST(EstimateRatio, TakesProcessesAsIndependentAndPrefersTheSame) {
  std::vector<double> rising;  // a correlation that widens the interval of quads
  for (int i = 0; i < 40; ++i) rising.push_back(1e-4 * i);
  const Ratio processes = estimate_ratio(rising, RatioRule::processes).value();
  EXPECT_EQ(processes.block, 1);
  EXPECT_LT(processes.ci_high, estimate_ratio(rising)->ci_high);
  EXPECT_EQ(processes.verdict, Verdict::same) << "0.2 %, and certain";
  EXPECT_EQ(estimate_ratio(rising, RatioRule::version_1)->verdict, Verdict::slower);
}

TEST(BlockedMean, OfFewLogRatiosTakesThemAsIndependent) {
  const std::vector<double> rising{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(blocked_mean(rising).mean.error, trimmed_mean(rising).error);
}

// By the rule of version 1, a difference of 0.05 % that was certain had a side.
TEST(EstimateRatio, PrefersTheSameToACertainDifferenceThatIsSmall) {
  const std::vector<double> values = around(-0.0005, 1e-5);
  EXPECT_EQ(verdict(values), Verdict::same);
  EXPECT_EQ(estimate_ratio(values, RatioRule::version_1)->verdict, Verdict::faster);
}

// The errors shrink with the root of the number, so the effort is right up to Student's quantile.
TEST(EffortToDecide, IsWhatMoreRatiosNeed) {
  for (const double location : {0.001, 0.005}) {
    const std::vector<double> few = around(location, 0.03);
    ASSERT_EQ(estimate_ratio(few)->verdict, Verdict::undecided);
    const double times = effort_to_decide(few);
    const auto verdict = [&](double share) {
      std::vector<double> more;
      while (static_cast<double>(more.size()) < share * times * static_cast<double>(few.size())) {
        more.insert(more.end(), few.begin(), few.end());
      }
      return estimate_ratio(more)->verdict;
    };
    EXPECT_EQ(verdict(0.5), Verdict::undecided) << location;
    EXPECT_NE(verdict(1.5), Verdict::undecided) << location;
  }
}

}  // namespace
}  // namespace ridgebench
