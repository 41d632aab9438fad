// The power loop has the features that its header states, and the simulated device idles where its
// host starts no batch in time.
#include "tests/support/power_loop.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

constexpr PowerModel kModel{.cap = 700, .draw = 1200, .idle = 100};
constexpr LaunchTimes kArithmetic{.arithmetic = 1e-3};
constexpr LaunchTimes kTraffic{.traffic = 1e-3};
const double kSettled = std::pow(600.0 / 1100, 1 / 2.5);  // share of the full clock

// Least and most seconds of a sample of 8 ms.
struct Readings {
  double least = 1;
  double most = 0;
  [[nodiscard]] double width() const { return most / least - 1; }
};

Readings samples(PowerLoop& loop, int count) {
  Readings range;
  for (int i = 0; i < count; ++i) {
    const double seconds = loop.run(kArithmetic, 8).seconds;
    range.least = std::min(range.least, seconds);
    range.most = std::max(range.most, seconds);
  }
  return range;
}

TEST(PowerLoop, SettlesWithinHalfASecondAtTheClockWhosePowerIsTheCap) {
  PowerLoop loop(kModel, 1);
  EXPECT_GT(samples(loop, 7).width(), 0.05) << "the first launches swing";
  loop.run(kArithmetic, 500);
  EXPECT_LT(samples(loop, 7).width(), 0.01);
  EXPECT_NEAR(loop.run(kArithmetic, 50).clock, kSettled, 0.002);
}

TEST(PowerLoop, AnIdleGapMakesItSwingWithAPeriodOf40Milliseconds) {
  PowerLoop loop(kModel, 1);
  loop.run(kArithmetic, 2000);
  EXPECT_LT(samples(loop, 7).width(), 0.001);
  loop.idle(0.01);
  const double first = loop.run(kArithmetic, 8).clock;
  const double half_a_period = (loop.run(kArithmetic, 8), loop.run(kArithmetic, 8).clock);
  EXPECT_GT(first, 1.015 * kSettled);
  EXPECT_LT(half_a_period, 0.985 * kSettled);
  loop.run(kArithmetic, 700);
  loop.idle(30e-6);
  EXPECT_LT(samples(loop, 7).width(), 0.002) << "a short gap is not a gap";
}

TEST(PowerLoop, MemoryDrawsLessAndDoesNotFollowTheClock) {
  PowerLoop loop(kModel, 1);
  const PowerLoop::Ran ran = loop.run(kTraffic, 1000);
  EXPECT_EQ(ran.clock, 1);
  EXPECT_NEAR(ran.seconds, 1, 1e-9);
  EXPECT_EQ(loop.capped_s(1), 0);
  loop.run(kArithmetic, 1000);
  EXPECT_LT(loop.run(kTraffic, 8).clock, 0.9) << "the cap of the launches before";
  EXPECT_NEAR(loop.run(kTraffic, 8).seconds, 0.008, 1e-9);
  loop.run(kTraffic, 600);
  EXPECT_GT(loop.run(kTraffic, 8).clock, 0.99) << "it has gone";
}

TEST(PowerLoop, CountsTheSecondsOfALowerClock) {
  PowerLoop loop(kModel, 1);
  double now_s = loop.run(kArithmetic, 2000).seconds;
  const double capped_s = loop.capped_s(now_s - 1);
  EXPECT_LE(capped_s, now_s - 1);
  EXPECT_GE(capped_s, now_s - 1 - 0.11) << "the counter is renewed every 0.1 s";
  EXPECT_NEAR(loop.capped_s(now_s) - capped_s, 1, 0.001);
}

TEST(PowerLoop, TheEnergyCounterStepsTenTimesASecond) {
  PowerLoop loop(kModel, 1);
  loop.run(kArithmetic, 1000);
  const double start_s = loop.run(kArithmetic, 500).seconds + 1;
  loop.run(kArithmetic, 2000);
  const std::vector<CounterReading> all = loop.energy(start_s, start_s + 2);
  EXPECT_NEAR(static_cast<double>(all.size()), 20, 3);
  EXPECT_NEAR((all.back().total - all.front().total) / (all.back().time_s - all.front().time_s),
              700, 10);
  EXPECT_EQ(loop.energy(0, start_s).size() + all.size(), loop.energy(0, start_s + 2).size());
  EXPECT_FALSE(loop.take_watts().empty());
  EXPECT_TRUE(loop.take_watts().empty());
}

constexpr Work kCappedWork{.flops = 1e9, .bytes = 1e6};
constexpr const char* kCapped = "noise=0,gap=0,power_limit=700,draw=1200";

TEST(SimulatedDevice, ReadingTheMetersIdlesADeviceThatHasNoBatch) {
  const Launch nothing = [] {};
  SimulatedDevice device(parse_simulation(kCapped), kCappedWork);
  device.time_batch({&nothing, 1}, 2000);
  const double settled = device.time_batch({&nothing, 1}, 8).seconds;
  const auto running = device.start_batch({&nothing, 1}, 15);
  const double start_s = device.now_s();
  EXPECT_EQ(device.meters().size(), 2U);
  EXPECT_DOUBLE_EQ(device.now_s(), start_s + 0.01);
  const auto next = device.start_batch({&nothing, 1}, 8);
  running->wait();
  EXPECT_NEAR(next->wait().seconds / settled, 1, 0.001) << "a batch was running";
  static_cast<void>(device.meters());
  EXPECT_LT(device.time_batch({&nothing, 1}, 8).seconds, 0.99 * settled);
}

TEST(SimulatedDevice, ABatchThatIsStartedAheadBeginsWhenTheLastOneEnds) {
  const Launch nothing = [] {};
  SimulatedDevice device(parse_simulation("noise=0,gap=0"), kCappedWork);
  const double start_s = device.now_s();
  const auto first = device.start_batch({&nothing, 1}, 10);
  const auto second = device.start_batch({&nothing, 1}, 20);
  EXPECT_EQ(device.now_s(), start_s) << "starting takes no time";
  EXPECT_DOUBLE_EQ(first->wait().seconds, 0.01);
  EXPECT_NEAR(device.now_s(), start_s + 0.01, 1e-4);
  EXPECT_DOUBLE_EQ(second->wait().seconds, 0.02);
  EXPECT_NEAR(device.now_s(), start_s + 0.03, 1e-4);
}

TEST(SimulatedDevice, SaysThatThePowerLimitLoweredItsClock) {
  const Launch nothing = [] {};
  SimulatedDevice device(parse_simulation(kCapped), kCappedWork);
  device.begin_case("row");
  const Timing timing = device.time_batch({&nothing, 1}, 2000);
  EXPECT_NEAR(*timing.clock_hz, 1e9 * kSettled, 5e6);
  const auto telemetry = device.end_case();
  EXPECT_EQ(telemetry.at("clock_events"), std::vector<std::string>{"sw_power_cap"});
  EXPECT_NEAR(telemetry.at("power_w").at("median").get<double>(), 700, 10);
  EXPECT_GT(device.energy_readings(0).size(), device.energy_readings(1).size());
}

TEST(ParseSimulation, APowerLoopNeedsACap) {
  EXPECT_NO_THROW(parse_simulation(kCapped));
  EXPECT_THROW(parse_simulation("draw=1200"), UsageError);
  EXPECT_THROW(parse_simulation("draw=90,power_limit=700"), UsageError);
}

}  // namespace
}  // namespace ridgebench
