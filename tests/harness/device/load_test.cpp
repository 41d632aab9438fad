// When power and clock of a load settle.
#include "harness/device/load.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace ridgebench {
namespace {

constexpr double kLoadPeriod_s = 0.0625;  // exact

using Over = std::function<std::optional<double>(double time_s)>;

std::vector<LoadReading> load_of(double seconds, const Over& power_w, const Over& clock_hz) {
  std::vector<LoadReading> readings;
  for (double t = 0; t < seconds; t += kLoadPeriod_s) {
    readings.push_back({.time_s = 100 + t,
                        .power_w = power_w(t),
                        .sm_clock_hz = clock_hz(t),
                        .temperature_c = 40 + 5 * t});
  }
  return readings;
}

Over constant(double value) {
  return [=](double) { return value; };
}
Over unknown() {
  return [](double) { return std::nullopt; };
}
// `late` from a moment on.
Over step(double at_s, double early, double late) {
  return [=](double t) { return t < at_s ? early : late; };
}

TEST(Settling, ALoadThatChangesNothingHasSettledAtOnce) {
  EXPECT_EQ(settle_s(load_of(10, constant(700), constant(1.5e9))), 0);
}

// The median of five readings sees a step two readings late at most, and never early.
TEST(Settling, TheLaterOfPowerAndClockCounts) {
  EXPECT_NEAR(*settle_s(load_of(10, step(1, 200, 700), step(3, 1.9e9, 1.5e9))), 3, 1e-9);
  EXPECT_NEAR(*settle_s(load_of(10, step(4, 200, 700), step(3, 1.9e9, 1.5e9))), 4, 1e-9);
  EXPECT_NEAR(*settle_s(load_of(10, unknown(), step(3, 1.9e9, 1.5e9))), 3, 1e-9);
}

TEST(Settling, ARampEndsWithinTwoPercent) {
  const Over ramp = [](double t) { return 700 * (1 - 0.5 * std::exp(-t)); };
  // 0.5 exp(-t) = 0.02 at t = 3.2
  EXPECT_NEAR(*settle_s(load_of(12, ramp, constant(1.5e9))), std::log(25), 2 * kLoadPeriod_s);
}

TEST(Settling, OneOutlierIsNoChange) {
  const Over spike = [](double t) { return t == 5 ? 400 : 700; };
  EXPECT_EQ(settle_s(load_of(10, spike, constant(1.5e9))), 0);
}

TEST(Settling, WhatStillChangesAtTheEndHasNotSettled) {
  EXPECT_EQ(settle_s(load_of(10, step(9, 650, 700), constant(1.5e9))), std::nullopt);
  const Over falling = [](double t) { return 1.9e9 - 4e7 * t; };
  EXPECT_EQ(settle_s(load_of(10, constant(700), falling)), std::nullopt);
}

TEST(Settling, FewOrNoReadingsSayNothing) {
  EXPECT_EQ(settle_s({}), std::nullopt);
  EXPECT_EQ(settle_s(load_of(1, constant(700), constant(1.5e9))), std::nullopt);
  EXPECT_EQ(settle_s(load_of(10, unknown(), unknown())), std::nullopt);
}

TEST(Settling, TheRecordHasTheReadingsFromTheFirstOneOn) {
  const auto json = to_json(load_of(2, step(0.5, 200, 700), unknown()));
  EXPECT_EQ(json.at("settle_s"), 0.5);
  ASSERT_EQ(json.at("time_s").size(), 32U);
  EXPECT_EQ(json.at("time_s").at(1), kLoadPeriod_s);
  EXPECT_EQ(json.at("power_w").at(0), 200);
  EXPECT_EQ(json.at("temperature_c").at(16), 45);
  EXPECT_TRUE(json.at("sm_clock_hz").at(0).is_null());
}

}  // namespace
}  // namespace ridgebench
