#include "harness/base/ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace ridgebench {
namespace {

// The expected values are those of roofline/ridgebench/compare/gate.py for the same numbers.
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
  for (const double step : {-2, -1, 0, 1, 2}) {
    for (int i = 0; i < 20; ++i) values.push_back(location + spread * step);
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
