#include "harness/measure/duel/timing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "harness/base/clock_split.hpp"
#include "harness/base/ratio.hpp"
#include "harness/measure/sampler.hpp"
#include "tests/harness/measure/duel/duel_device.hpp"

namespace ridgebench {
namespace {

Ratio ratio(const std::vector<double>& log_ratios) { return estimate_ratio(log_ratios).value(); }

TEST(PlanDuel, GivesTheLongScaleWholeBlocksWherePowerSettlesSlowly) {
  const DuelPlan whole = plan_duel(26, true);
  EXPECT_EQ(whole.long_quads, 4);
  EXPECT_DOUBLE_EQ(whole.long_block_s, 1.3);
  EXPECT_NEAR(whole.short_s, 26 - 16 * 1.3, 1e-12);
  EXPECT_EQ(plan_duel(21, true).long_quads, 3);
  const DuelPlan brief = plan_duel(19, true);
  EXPECT_EQ(brief.long_quads, 0) << "two quads have no interval";
  EXPECT_DOUBLE_EQ(brief.short_s, 19);
}

TEST(PlanDuel, ShortensTheLongBlocksOfOtherDevices) {
  const DuelPlan plan = plan_duel(8, false);
  EXPECT_EQ(plan.long_quads, 4);
  EXPECT_NEAR(plan.short_s, 5.6, 1e-12);
  EXPECT_NEAR(plan.long_block_s, 2.4 / 16, 1e-12);
}

TEST(TimeDuel, TakesQuadsOfBothOrdersOverTheWholeRotation) {
  DuelDevice device({});
  const DuelTimes times = device.duel({.seconds = 27, .settles = true});
  EXPECT_EQ(times.short_scale.quads, 200);
  EXPECT_EQ(times.short_scale.log_seconds.size(), 200U);
  EXPECT_EQ(times.short_scale.log_cycles.size(), 200U);
  ASSERT_TRUE(times.long_scale.has_value());
  EXPECT_EQ(times.long_scale->quads, 4);
  EXPECT_EQ(times.long_scale->log_seconds.size(), 8U) << "two pairs to a quad";
  std::set<std::string> orders;  // behind two batches of each technique to warm up
  for (std::size_t i = 0; i < 200; ++i) orders.insert(device.sides().substr(4 + 4 * i, 4));
  EXPECT_EQ(orders, (std::set<std::string>{"ABBA", "BAAB"}));
  EXPECT_EQ(device.sets_used(), DuelDevice::kSets);
  EXPECT_NEAR(times.short_scale.launch_s[0], device.launch_s(), 0.01 * device.launch_s());
}

TEST(TimeDuel, NeverLeavesTheDeviceIdle) {
  DuelDevice device({});
  device.duel({.seconds = 25, .settles = true});
  EXPECT_EQ(device.idle_gaps(), 1) << "before the first batch only";
  EXPECT_LE(device.most_unfinished(), 2);
}

TEST(TimeDuel, StopsAtItsTimeLimit) {
  DuelDevice device({});
  const DuelTimes times = device.duel({.seconds = 1, .settles = true});
  EXPECT_FALSE(times.long_scale.has_value());
  EXPECT_GT(times.short_scale.quads, 30);
  EXPECT_LT(times.short_scale.quads, 60);
  EXPECT_LT(device.now_s(), 1.1);
}

TEST(TimeDuel, EndsWhenItIsStopped) {
  DuelDevice device({});
  int calls = 0;
  EXPECT_THROW(device.duel({.seconds = 25, .stop = [&] { return ++calls == 10; }}), Interrupted);
  EXPECT_EQ(device.sides().size(), 9U);
}

TEST(TimeDuel, GivesNoCyclesWhereAClockIsUnknown) {
  DuelDevice device({.clocked = false});
  EXPECT_TRUE(device.duel({.seconds = 5}).short_scale.log_cycles.empty());
}

TEST(TimeDuel, ADriftDoesNotFavourATechnique) {
  DuelDevice device({.noise = 0, .drift_per_s = 0.01});
  const DuelTimes times = device.duel({.seconds = 25, .settles = true});
  EXPECT_NEAR(ratio(times.short_scale.log_seconds).value, 1, 1e-5);
  EXPECT_NEAR(ratio(times.long_scale->log_seconds).value, 1, 1e-3);
}

// A clock that swings by 4 % with a period near that of a quad must not look like a difference: the
// order of each quad is random.
TEST(TimeDuel, AnOscillationInStepWithTheQuadsDoesNotFavourATechnique) {
  for (const double period_s : {0.0205, 0.0208, 0.041, 0.0104}) {
    DuelDevice device({.swing = 0.04, .period_s = period_s});
    const DuelTimes times = device.duel({.seconds = 5});
    const Ratio found = ratio(times.short_scale.log_seconds);
    EXPECT_TRUE(found.verdict == Verdict::same || found.verdict == Verdict::undecided)
        << period_s << ": " << found.value;
  }
}

// Technique B is 1 % slower at full clock, and 3 % faster where the clock is lower by a quarter.
TEST(TimeDuel, SeparatesARatioThatDependsOnTheClock) {
  DuelDevice device({.slower = 1.01, .period_s = 1, .dip = 0.25, .dip_slower = 0.97 / 1.01});
  const ScaleTimes times = device.duel({.seconds = 5}).short_scale;
  ASSERT_EQ(times.clock_hz.size(), times.log_seconds.size());
  for (const std::vector<double>& log_ratios : {times.log_seconds, times.log_cycles}) {
    const SplitRatio found = split_by_clock(log_ratios, times.clock_hz).value();
    EXPECT_NEAR(found.full_clock.ratio.value, 1 / 1.01, 1e-3);
    EXPECT_NEAR(found.capped.ratio.value, 1 / 0.97, 1e-3);
    EXPECT_EQ(found.full_clock.ratio.verdict, Verdict::faster);
    EXPECT_EQ(found.capped.ratio.verdict, Verdict::slower);
    EXPECT_EQ(found.verdict(), Verdict::undecided);
  }
  DuelDevice same({.slower = 1.01, .period_s = 1, .dip = 0.25});
  const ScaleTimes whole = same.duel({.seconds = 5}).short_scale;
  EXPECT_FALSE(split_by_clock(whole.log_seconds, whole.clock_hz).has_value());
}

// A power cap whose loop settles, and a clock that never stops swinging by 4 %.
std::vector<DuelWorld> capped(double slower, std::uint64_t seed) {
  return {{.slower = slower, .capped = true, .seed = seed},
          {.slower = slower, .swing = 0.04, .seed = seed}};
}

DuelLimits full(std::uint64_t seed) {
  return {.seconds = 27, .warm_up_s = 0.5, .settles = true, .seed = seed};
}

TEST(TimeDuel, KnowsTheJoulesOfEachTechnique) {
  DuelDevice device({.slower = 1.1, .capped = true});
  const DuelTimes times = device.duel({.seconds = 27, .warm_up_s = 0.5, .settles = true});
  for (const std::size_t side : {0U, 1U}) {
    const std::vector<double>& blocks = times.long_scale->joules.at(side);
    EXPECT_EQ(blocks.size(), 8U) << "of four quads";
    for (const double joules : blocks) {
      const double watts = joules / times.long_scale->launch_s.at(side);
      EXPECT_NEAR(watts, DuelDevice::kCap_w, 0.02 * DuelDevice::kCap_w);
    }
  }
  DuelDevice unwatched({});
  EXPECT_TRUE(unwatched.duel({.seconds = 27, .settles = true}).long_scale->joules[0].empty());
}

TEST(Duels, DecideSixTenthsOfAPercentAtAPowerCapIn99Of100Seeds) {
  std::array<std::array<int, 2>, 2> decided{};
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<DuelWorld> worlds = capped(1.006, seed);
    for (std::size_t i = 0; i < worlds.size(); ++i) {
      DuelDevice device(worlds[i]);
      const DuelTimes times = device.duel(full(seed));
      decided.at(i)[0] += ratio(times.short_scale.log_cycles).verdict == Verdict::faster ? 1 : 0;
      decided.at(i)[1] += ratio(times.long_scale->log_seconds).verdict == Verdict::faster ? 1 : 0;
    }
  }
  EXPECT_GE(decided[0][0], 99) << "in cycles, at a cap";
  EXPECT_GE(decided[0][1], 99) << "in seconds, at a cap";
  EXPECT_GE(decided[1][0], 99) << "in cycles, with a clock that swings";
  EXPECT_GE(decided[1][1], 99) << "in seconds, with a clock that swings";
}

// The verdicts that such a duel publishes: in seconds by the long scale, in cycles by the short
// one.
int false_verdicts(const DuelWorld& world) {
  DuelDevice device(world);
  const DuelTimes times = device.duel(full(world.seed));
  int wrong = 0;
  for (const auto* ratios : {&times.long_scale->log_seconds, &times.short_scale.log_cycles}) {
    const Verdict verdict = ratio(*ratios).verdict;
    wrong += verdict == Verdict::faster || verdict == Verdict::slower ? 1 : 0;
  }
  return wrong;
}

TEST(Duels, OfATechniqueAgainstItselfHaveNoFalseVerdictIn1000) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    wrong += false_verdicts({.capped = true, .seed = seed});
  }
  EXPECT_EQ(wrong, 0) << "0.2 are expected";
}

TEST(Duels, OfATechniqueAgainstItselfHaveNoFalseVerdictWhereTheClockSwings) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    wrong += false_verdicts({.swing = 0.04, .seed = seed});
  }
  EXPECT_EQ(wrong, 0) << "0.2 are expected";
}

}  // namespace
}  // namespace ridgebench
