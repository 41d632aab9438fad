// The simulated device is a clock with a documented model: what it adds to a time, and its faults.
#include "tests/support/simulated_device.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "harness/measure/watchdog.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Work kWork{.flops = 1e6, .bytes = 1e6};
const Launch kNothing = [] {};

// Seconds of one launch in each of `count` batches.
std::vector<double> times(SimulatedDevice& device, int count) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    seconds.push_back(device.time_batch({&kNothing, 1}, 1).seconds);
  }
  return seconds;
}

std::vector<double> times(const std::string& simulation, int count) {
  SimulatedDevice device(parse_simulation(simulation), kWork);
  return times(device, count);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Standard deviation of the logarithms.
double log_deviation(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  const double centre = mean(values);
  for (double& value : values) value = (value - centre) * (value - centre);
  return std::sqrt(mean(values));
}

TEST(SimulatedDevice, TimeIsTheLongerOfArithmeticAndTrafficPlusTheGap) {
  const auto time = [](const std::string& rates) {
    return times("noise=0,gap=3e-6," + rates, 1).front();
  };
  EXPECT_DOUBLE_EQ(time("peak=1e11,bandwidth=1e12"), 1e-5 + 3e-6);
  EXPECT_DOUBLE_EQ(time("peak=1e12,bandwidth=1e10"), 1e-4 + 3e-6);
}

TEST(SimulatedDevice, ABatchTakesItsLaunchesInTurn) {
  SimulatedDevice device(parse_simulation("noise=0"), kWork);
  const std::vector<Launch> rotation(3, kNothing);
  const double one = device.time_batch({&kNothing, 1}, 1).seconds;
  const Timing batch = device.time_batch(rotation, 5);
  EXPECT_DOUBLE_EQ(batch.seconds, 15 * one);
  EXPECT_EQ(batch.clock_hz, 1e9);
  EXPECT_DOUBLE_EQ(device.time_cold(kNothing).seconds, one);
}

TEST(SimulatedDevice, EveryLaunchRunsOnceSoThatItsOutputCanBeChecked) {
  SimulatedDevice device(Simulation{}, kWork);
  int launches = 0;
  const std::vector<Launch> rotation(4, [&launches] { ++launches; });
  device.run(rotation.front());
  EXPECT_EQ(launches, 1);
  for (int i = 0; i < 10; ++i) device.time_batch(rotation, 7);
  EXPECT_EQ(launches, 1 + 4);
}

// The standard error of a deviation over 4000 samples is 1.1 %.
TEST(SimulatedDevice, NoiseHasTheDeviationAskedFor) {
  EXPECT_NEAR(log_deviation(times("noise=0.02", 4000)), 0.02, 0.001);
  EXPECT_NEAR(log_deviation(times("", 4000)), 0.004, 0.0002);
}

TEST(SimulatedDevice, TheSeedDecidesTheNoise) {
  EXPECT_EQ(times("seed=3", 5), times("seed=3", 5));
  EXPECT_NE(times("seed=3", 5), times("seed=4", 5));
}

// 30 processes: the standard error of their deviation is 13 %.
TEST(SimulatedDevice, ProcessFactorIsConstantWithinADeviceAndVariesBetweenThem) {
  std::vector<double> processes;
  for (int seed = 1; seed <= 30; ++seed) {
    const auto samples = times("noise=0,process=0.05,seed=" + std::to_string(seed), 3);
    EXPECT_EQ(samples[0], samples[2]);
    processes.push_back(samples[0]);
  }
  EXPECT_NEAR(log_deviation(processes), 0.05, 0.025);
}

TEST(SimulatedDevice, DriftGrowsOverAThousandBatches) {
  const auto samples = times("noise=0,drift=0.1", 2000);
  EXPECT_NEAR(samples[999] / samples[0], 1.1, 0.001);
  EXPECT_NEAR(samples[1999] / samples[0], 1.2, 0.001);
}

TEST(SimulatedDevice, HalfOfTheSamplesTakeTheSecondLevel) {
  const auto samples = times("noise=0,bimodal=0.1", 2000);
  const double base = times("noise=0", 1).front();
  const auto upper = std::ranges::count_if(samples, [&](double s) { return s > 1.05 * base; });
  EXPECT_NEAR(static_cast<double>(upper) / 2000, 0.5, 0.05);
  EXPECT_NEAR(std::ranges::max(samples) / base, 1.1, 1e-9);
}

TEST(SimulatedDevice, GlitchesTakeTwiceAsLong) {
  const auto samples = times("noise=0,glitch=0.25", 2000);
  EXPECT_NEAR(mean(samples) / times("noise=0", 1).front(), 1.25, 0.05);
}

TEST(SimulatedDevice, SlowIsAFactorOnEveryTime) {
  EXPECT_DOUBLE_EQ(times("noise=0,slow=1.02", 1).front(), 1.02 * times("noise=0", 1).front());
}

// 30 rows: the standard error of their deviation is 13 %.
TEST(SimulatedDevice, RowFactorIsDrawnAnewForEveryRow) {
  SimulatedDevice device(parse_simulation("noise=0,row=0.05"), kWork);
  std::vector<double> rows;
  for (int i = 0; i < 30; ++i) {
    device.begin_case("row");
    const auto samples = times(device, 2);
    EXPECT_EQ(samples[0], samples[1]);
    rows.push_back(samples[0]);
  }
  EXPECT_NEAR(log_deviation(rows), 0.05, 0.025);
}

TEST(SimulatedDevice, TheNumberOfSamplesBeforeARowDoesNotChangeTheRow) {
  const auto second_row = [](int samples_of_the_first) {
    SimulatedDevice device(parse_simulation("noise=0,row=0.05"), kWork);
    device.begin_case("first");
    times(device, samples_of_the_first);
    device.begin_case("second");
    return times(device, 1).front();
  };
  EXPECT_EQ(second_row(7), second_row(30));
}

TEST(SimulatedDevice, ALowerClockTakesLongerButNotMoreCycles) {
  const double nominal = times("noise=0", 1).front();
  for (const std::string cause : {"throttle", "cap"}) {
    SimulatedDevice device(parse_simulation("noise=0," + cause + "=0.2"), kWork);
    const Timing timing = device.time_batch({&kNothing, 1}, 1);
    EXPECT_DOUBLE_EQ(timing.seconds, nominal / 0.8);
    EXPECT_DOUBLE_EQ(*timing.clock_hz, 0.8e9);
    const std::string event = cause == "cap" ? "sw_power_cap" : "hw_thermal_slowdown";
    EXPECT_EQ(device.end_case().at("clock_events"), std::vector<std::string>{event});
  }
  EXPECT_TRUE(SimulatedDevice(Simulation{}).end_case().empty());
}

TEST(SimulatedDevice, SaysWhatItPretendsToBe) {
  const SimulatedDevice device(
      parse_simulation("gap=5e-6,memory=1e6,sheet=h100-sxm,power_limit=500"));
  EXPECT_EQ(device.launch_floor_s(), 5e-6);
  EXPECT_EQ(device.free_bytes(), 1e6);
  EXPECT_EQ(device.data_sheet(), "h100-sxm");
  EXPECT_EQ(device.identity().at("name"), "sim");
  EXPECT_EQ(device.identity().at("power_limit_w"), 500);
  EXPECT_THAT(device.identity().at("model").get<std::string>(), HasSubstr("no measurement"));
}

TEST(SimulatedDevice, IsLostAtTheBatchAskedFor) {
  SimulatedDevice device(parse_simulation("lose=3"), kWork);
  EXPECT_NO_THROW(times(device, 2));
  EXPECT_THROW(times(device, 1), DeviceError);
}

TEST(SimulatedDeviceDeathTest, HangsAtTheBatchAskedForUntilAWatchdogEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto hang = [] {
    SimulatedDevice device(parse_simulation("hang=2"), kWork);
    times(device, 1);
    Watchdog watchdog([] { std::_Exit(7); });
    watchdog.start(std::chrono::milliseconds(50));
    times(device, 1);
    std::_Exit(0);
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(7), "");
}

TEST(ParseSimulation, ReadsEveryKey) {
  const Simulation s = parse_simulation(
      "peak=1,bandwidth=2,gap=3,clock=4,memory=5,noise=6,process=7,drift=8,bimodal=9,glitch=0.5,"
      "slow=11,lose=12,hang=13,seed=14,sheet=l4,row=15,throttle=0.1,cap=0.2,power_limit=16");
  EXPECT_EQ(std::tuple(s.peak, s.bandwidth, s.gap, s.clock, s.memory), std::tuple(1, 2, 3, 4, 5));
  EXPECT_EQ(std::tuple(s.noise, s.process, s.drift, s.bimodal), std::tuple(6, 7, 8, 9));
  EXPECT_EQ(std::tuple(s.glitch, s.slow, s.lose, s.hang, s.seed), std::tuple(0.5, 11, 12, 13, 14U));
  EXPECT_EQ(std::tuple(s.row, s.throttle, s.cap, s.power_limit), std::tuple(15, 0.1, 0.2, 16));
  EXPECT_EQ(s.sheet, "l4");
}

TEST(ParseSimulation, RefusesWhatItCannotRead) {
  EXPECT_THROW(parse_simulation("cap=1"), UsageError);
  for (const char* text : {"noise", "nois=1", "=1", "noise=1,,peak=2"}) {
    EXPECT_THAT([&] { parse_simulation(text); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("key=value"), HasSubstr("bandwidth"))))
        << text;
  }
  for (const char* text : {"noise=", "noise=x", "noise=1x", "noise=-1", "lose=1.5", "lose=-1",
                           "noise=nan", "noise=inf"}) {
    EXPECT_THAT([&] { parse_simulation(text); },
                ThrowsMessage<UsageError>(HasSubstr("is not a number that is at least 0")))
        << text;
  }
}

}  // namespace
}  // namespace ridgebench
