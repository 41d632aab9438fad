#include "harness/base/step_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ridgebench {
namespace {

constexpr double kWatts = 650;

// What a reader that looks every `period_s` sees of a counter that is renewed about ten times a
// second while the device draws kWatts.
std::vector<CounterReading> polled(double seconds, double period_s, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<> uniform;
  std::vector<CounterReading> readings;
  double renewed_s = -0.1 * uniform(random);
  double next_s = renewed_s + 0.1;
  for (double time_s = 0; time_s < seconds; time_s += period_s) {
    while (next_s <= time_s) {
      renewed_s = next_s;
      next_s += 0.09 + 0.02 * uniform(random);
    }
    readings.push_back({time_s, 1e6 + kWatts * renewed_s});
  }
  return readings;
}

TEST(StepFit, TwoSecondsOfStepsGiveTheWattsToAFewTenthsOfAPercent) {
  double squares = 0;
  double squared_errors = 0;
  constexpr int kSeeds = 200;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const auto rate = fit_renewals(polled(2, 0.01, seed));
    ASSERT_TRUE(rate);
    squares += std::pow(rate->per_s / kWatts - 1, 2) / kSeeds;
    squared_errors += std::pow(rate->error_per_s / kWatts, 2) / kSeeds;
  }
  EXPECT_LT(std::sqrt(squares), 0.002);
  EXPECT_NEAR(std::sqrt(squared_errors / squares), 1, 0.25) << "the stated error is the real one";
}

TEST(StepFit, TheTwoEndsAloneAreOffByAStep) {
  const std::vector<CounterReading> readings = polled(2, 0.01, 1);
  const double ends = (readings.back().total - readings.front().total) / 2;
  EXPECT_GT(std::abs(ends / kWatts - 1), 0.005);
}

TEST(StepFit, ALineWithoutNoiseIsExact) {
  std::vector<CounterReading> readings;
  for (int i = 0; i < 8; ++i) readings.push_back({1e5 + 0.1 * i, 5e8 + 30 * i});
  const auto rate = fit_renewals(readings);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->per_s, 300, 1e-4);
  EXPECT_NEAR(rate->error_per_s, 0, 1e-3);
}

TEST(StepFit, FewRenewalsSayNothing) {
  EXPECT_FALSE(fit_renewals({}));
  EXPECT_FALSE(fit_renewals(polled(0.5, 0.01, 1)));
  const std::vector<CounterReading> still(50, {1, 100});
  EXPECT_FALSE(fit_renewals(still));
}

TEST(StepFit, ACounterThatWentBackSaysNothing) {
  std::vector<CounterReading> readings = polled(2, 0.01, 1);
  readings[150].total = 5;
  EXPECT_FALSE(fit_renewals(readings));
}

}  // namespace
}  // namespace ridgebench
