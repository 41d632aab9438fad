#include "harness/measure/patience.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "harness/device/simulated_device.hpp"

namespace ridgebench {
namespace {

constexpr double kPlenty_s = 60;

TEST(Patience, IsNotNeededWhereNobodyMovesThreads) {
  SimulatedDevice device(Simulation{});
  Patience patience(device, kPlenty_s);
  patience.begin_row();
  EXPECT_EQ(patience.wait(nullptr), 0);
  EXPECT_FALSE(patience.apart());
  EXPECT_TRUE(patience.telemetry().is_null());
}

TEST(Patience, WaitsUntilThreadsAreInPlace) {
  SimulatedDevice device(parse_simulation("apart=3"));
  Patience patience(device, kPlenty_s);
  patience.begin_row();
  const double waited_s = patience.wait(nullptr);
  EXPECT_GE(waited_s, 5 * 5e-3) << "two more looks that find them apart, three that do not";
  EXPECT_FALSE(patience.apart());
  EXPECT_EQ(patience.telemetry()["waited_s"], waited_s);
  EXPECT_EQ(patience.telemetry()["core_to_core_s"]["max"], 50e-9);
  EXPECT_EQ(patience.wait(nullptr), 0) << "the last look was just now";
  patience.begin_row();
  EXPECT_EQ(patience.wait(nullptr), 0);
  EXPECT_EQ(patience.telemetry()["waited_s"], 0) << "of another row";
}

TEST(Patience, IsSharedByAllRowsAndThenOver) {
  SimulatedDevice device(parse_simulation("apart=1000000"));
  Patience patience(device, 0.02);
  patience.begin_row();
  EXPECT_GE(patience.wait(nullptr), 0.02);
  EXPECT_TRUE(patience.apart());
  patience.begin_row();
  EXPECT_EQ(patience.wait(nullptr), 0);
  EXPECT_TRUE(patience.apart());
  EXPECT_EQ(patience.telemetry()["core_to_core_s"]["median"], 200e-9);
}

TEST(Patience, EndsWhenTheRunIsStopped) {
  SimulatedDevice device(parse_simulation("apart=1000000"));
  Patience patience(device, kPlenty_s);
  patience.begin_row();
  int asked = 0;
  EXPECT_LT(patience.wait([&] { return ++asked == 3; }), kPlenty_s);
  EXPECT_EQ(asked, 3);
}

TEST(Patience, AWaitInVainIsNotRepeatedUntilThreadsWereInPlace) {
  SimulatedDevice device(parse_simulation("apart=4"));
  Patience patience(device, kPlenty_s);
  const auto first_look = [&](const std::function<bool()>& stop) {
    patience.begin_row();
    return patience.wait(stop);
  };
  int asked = 0;
  first_look([&] { return ++asked == 2; });  // in vain: two looks
  EXPECT_EQ(first_look(nullptr), 0) << "the third";
  EXPECT_TRUE(patience.apart());
  EXPECT_EQ(first_look(nullptr), 0) << "the fourth";
  EXPECT_EQ(first_look(nullptr), 0);
  EXPECT_FALSE(patience.apart());
}

}  // namespace
}  // namespace ridgebench
