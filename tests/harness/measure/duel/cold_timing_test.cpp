// Cold duels: single launches in quads, as many as the time allows.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/base/ratio.hpp"
#include "harness/measure/sampler.hpp"
#include "tests/harness/measure/duel/duel_device.hpp"

namespace ridgebench {
namespace {

constexpr std::size_t kColdLaunchesBefore = 6;  // to warm up

TEST(ColdDuel, TakesQuadsOfBothOrdersOfTenLaunches) {
  DuelDevice device({});
  const DuelTimes times = device.cold_duel({.seconds = 10});
  EXPECT_EQ(times.short_scale.quads, 200);
  EXPECT_EQ(times.short_scale.log_seconds.size(), 200U);
  EXPECT_FALSE(times.long_scale.has_value()) << "power does not settle between single launches";
  ASSERT_EQ(device.sides().size(), kColdLaunchesBefore + 200U * 4 * kColdLaunches);
  EXPECT_EQ(device.sets_used(), 1U);
  EXPECT_NEAR(times.short_scale.block_s, kColdLaunches * DuelDevice::launch_s(), 1e-3);
  std::set<std::string> quads;
  for (std::size_t i = 0; i < 200; ++i) {
    quads.insert(
        device.sides().substr(kColdLaunchesBefore + 4 * kColdLaunches * i, 4 * kColdLaunches));
  }
  const std::string a(kColdLaunches, 'A');
  const std::string b(kColdLaunches, 'B');
  EXPECT_EQ(quads, (std::set{a + b + b + a, b + a + a + b}));
}

TEST(ColdDuel, TakesSingleLaunchesAndFewerQuadsWhereTheTimeIsShort) {
  DuelDevice device({});
  const DuelTimes times = device.cold_duel({.seconds = 0.1});
  EXPECT_GT(times.short_scale.quads, 15);
  EXPECT_LT(times.short_scale.quads, 30);
  EXPECT_EQ(device.sides().size(), kColdLaunchesBefore + 4 * times.short_scale.log_seconds.size());
  EXPECT_EQ(DuelDevice({}).cold_duel({.seconds = 1e-6}).short_scale.quads, 1);
}

TEST(ColdDuel, OfEqualTechniquesHasNoFalseVerdictAndFindsOnePercent) {
  int wrong = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto verdict = [&](double slower) {
      DuelDevice device({.slower = slower, .clocked = false, .seed = seed});
      const DuelTimes times = device.cold_duel({.seconds = 10, .seed = seed});
      EXPECT_TRUE(times.short_scale.log_cycles.empty());
      return estimate_ratio(times.short_scale.log_seconds).value().verdict;
    };
    wrong += verdict(1) == Verdict::faster || verdict(1) == Verdict::slower ? 1 : 0;
    found += verdict(1.01) == Verdict::faster ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(found, 299);
}

TEST(ColdDuel, StopsBeforeALaunch) {
  DuelDevice device({});
  EXPECT_THROW(device.cold_duel({.seconds = 1, .stop = [] { return true; }}), Interrupted);
}

}  // namespace
}  // namespace ridgebench
