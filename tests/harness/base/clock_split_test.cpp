// Simulated quads of a machine that runs at full clock or at its power cap, in episodes.
#include "harness/base/clock_split.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ridgebench {
namespace {

constexpr double kFull_hz = 1.98e9;
constexpr double kCapped_hz = 1.5e9;

struct Quads {
  std::vector<double> log_ratios;
  std::vector<double> clock_hz;
};

// Quads with noise of lag-1 correlation 0.9 and a deviation of `noise` around the log ratio of
// their state. An episode has 25 quads on average.
Quads quads_of(std::size_t count, double at_full, double at_cap, double noise,
               std::mt19937_64& random) {
  constexpr double kCorrelation = 0.9;
  constexpr double kEpisode = 25;
  std::normal_distribution<> normal;
  std::bernoulli_distribution ends(1 / kEpisode);
  bool capped = std::bernoulli_distribution(0.5)(random);
  double now = normal(random);
  Quads quads;
  for (std::size_t i = 0; i < count; ++i) {
    if (ends(random)) capped = !capped;
    now = kCorrelation * now + std::sqrt(1 - kCorrelation * kCorrelation) * normal(random);
    quads.log_ratios.push_back((capped ? at_cap : at_full) + noise * now);
    quads.clock_hz.push_back((capped ? kCapped_hz : kFull_hz) * (1 + 0.002 * normal(random)));
  }
  return quads;
}

bool covers(const Ratio& ratio, double log_ratio) {
  return std::log(ratio.ci_low) <= log_ratio && log_ratio <= std::log(ratio.ci_high);
}

TEST(SplitByClock, CoversTheRatioOfEachStateIn95PercentOfDuels) {
  std::mt19937_64 random(1);
  int split = 0;
  int full = 0;
  int capped = 0;
  constexpr int kDuels = 1000;
  for (int i = 0; i < kDuels; ++i) {
    const Quads quads = quads_of(400, 0.005, -0.05, 0.002, random);
    const auto found = split_by_clock(quads.log_ratios, quads.clock_hz);
    if (!found) continue;
    ++split;
    full += covers(found->full_clock.ratio, 0.005) ? 1 : 0;
    capped += covers(found->capped.ratio, -0.05) ? 1 : 0;
  }
  EXPECT_GE(split, kDuels * 95 / 100) << "in the rest, one state has too few quads";
  for (const int covered : {full, capped}) {
    EXPECT_GE(covered, split * 93 / 100);
    EXPECT_LE(covered, split * 97 / 100);
  }
}

TEST(SplitByClock, NamesNoSideWhereTheStatesDisagree) {
  std::mt19937_64 random(1);
  const Quads quads = quads_of(400, 0.01, -0.05, 0.001, random);
  const SplitRatio found = split_by_clock(quads.log_ratios, quads.clock_hz).value();
  EXPECT_EQ(found.full_clock.ratio.verdict, Verdict::slower);
  EXPECT_EQ(found.capped.ratio.verdict, Verdict::faster);
  EXPECT_EQ(found.verdict(), Verdict::undecided);
  EXPECT_EQ(found.full_clock.quads + found.capped.quads, 400U);
  EXPECT_NEAR(found.full_clock.clock_hz, kFull_hz, 0.01 * kFull_hz);
  EXPECT_NEAR(found.capped.clock_hz, kCapped_hz, 0.01 * kCapped_hz);
}

TEST(SplitByClock, NamesTheSideOnWhichTheStatesAgree) {
  std::mt19937_64 random(1);
  const Quads quads = quads_of(400, -0.02, -0.05, 0.001, random);
  EXPECT_EQ(split_by_clock(quads.log_ratios, quads.clock_hz).value().verdict(), Verdict::faster);
}

TEST(SplitByClock, LeavesARatioWholeThatDoesNotDependOnTheClock) {
  std::mt19937_64 random(1);
  int split = 0;
  int wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    const Quads quads = quads_of(200, 0, 0, 0.01, random);
    const auto found = split_by_clock(quads.log_ratios, quads.clock_hz);
    split += found ? 1 : 0;
    const Verdict verdict = found ? found->verdict() : estimate_ratio(quads.log_ratios)->verdict;
    wrong += verdict == Verdict::faster || verdict == Verdict::slower ? 1 : 0;
  }
  EXPECT_LE(split, 3000 * 3 / 100);
  EXPECT_EQ(wrong, 0);
}

TEST(SplitByClock, NeedsAClockOfEachQuadAndEnoughQuadsOfEachState) {
  const std::vector<double> log_ratios(40);
  EXPECT_FALSE(split_by_clock(log_ratios, std::vector<double>(39, kFull_hz)).has_value());
  EXPECT_FALSE(split_by_clock({}, {}).has_value());
  std::vector<double> steps(40);
  std::vector<double> clocks(40, kFull_hz);
  for (std::size_t i = 0; i < 15; ++i) {
    steps[i] = 1 + 1e-4 * static_cast<double>(i % 2);
    clocks[i] = kCapped_hz;
  }
  EXPECT_FALSE(split_by_clock(steps, clocks).has_value());
  steps[15] = 1;
  clocks[15] = kCapped_hz;
  EXPECT_TRUE(split_by_clock(steps, clocks).has_value());
}

}  // namespace
}  // namespace ridgebench
