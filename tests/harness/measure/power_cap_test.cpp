// A device at its power cap, whose clock swings after each pause: what a sampler that pauses makes
// of it, and what the suite's sampler does.
#include <gmock/gmock.h>

#include <cmath>

#include "harness/base/statistics.hpp"
#include "harness/measure/sampler.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::Not;

// 1 ms of arithmetic or of traffic at the full clock.
constexpr Work kTensor{.flops = 1e9, .bytes = 1e6};
constexpr Work kTraffic{.flops = 1e6, .bytes = 1e8};
constexpr const char* kCappedH100 =
    "noise=0.001,gap=0,clock=1.98e9,power_limit=700,draw=1200,seed=";
const Launch kNothing = [] {};
// The share of a row in the quick profile, and the warm-up of a row of a tensor engine.
const SamplingLimits kQuick{.seconds = 0.3, .warm_up_s = 0.5, .stop = nullptr};

double width(const std::vector<double>& seconds) {
  const Summary summary = summarize(seconds, 0);
  return (summary.ci_high - summary.ci_low) / summary.median;
}

// The rule of method version 4: time is counted from the start of the warm-up, so that 7 samples
// are left of a row whose warm-up takes longer than its share, and the meters are read while the
// device idles.
std::vector<double> pausing_samples(SimulatedDevice& device) {
  constexpr std::int64_t kLaunches = 6;
  const double start_s = device.now_s();
  while (device.now_s() - start_s < kQuick.warm_up_s) device.time_batch({&kNothing, 1}, kLaunches);
  static_cast<void>(device.meters());
  std::vector<double> seconds;
  while (seconds.size() < kFewestSamples || device.now_s() - start_s < kQuick.seconds) {
    seconds.push_back(device.time_batch({&kNothing, 1}, kLaunches).seconds / double{kLaunches});
  }
  return seconds;
}

Samples quick_samples(SimulatedDevice& device, const SamplingLimits& limits = kQuick) {
  return take_samples(device, {&kNothing, 1}, Regime::steady, limits);
}

TEST(PowerCap, APauseBeforeSevenSamplesMakesTheirIntervalWide) {
  for (int seed = 1; seed <= 100; ++seed) {
    SimulatedDevice device(parse_simulation(kCappedH100 + std::to_string(seed)), kTensor);
    const std::vector<double> seconds = pausing_samples(device);
    EXPECT_EQ(seconds.size(), kFewestSamples);
    EXPECT_GT(width(seconds), 0.05) << seed;
    EXPECT_LT(width(seconds), 0.15) << seed;
  }
}

TEST(PowerCap, ADeviceThatNeverIdlesHasANarrowInterval) {
  for (int seed = 1; seed <= 100; ++seed) {
    SimulatedDevice device(parse_simulation(kCappedH100 + std::to_string(seed)), kTensor);
    const Samples samples = quick_samples(device);
    EXPECT_LT(width(samples.seconds), 0.005) << seed;
    EXPECT_TRUE(samples.power_capped);
    EXPECT_GE(samples.window.busy_s, kSustained_s);
    EXPECT_THAT(samples.flags, Not(Contains("few_samples")));
  }
}

TEST(PowerCap, MedianMeanAndCyclesAgreeFromRunToRun) {
  std::vector<double> medians;
  std::vector<double> means;
  std::vector<double> cycles;
  for (int seed = 1; seed <= 30; ++seed) {
    SimulatedDevice device(parse_simulation(kCappedH100 + std::to_string(seed)), kTensor);
    const Samples samples = quick_samples(device);
    ASSERT_EQ(samples.clocks_hz.size(), samples.seconds.size());
    medians.push_back(summarize(samples.seconds, 0).median);
    means.push_back(samples.window.busy_s / static_cast<double>(samples.window.launches));
    cycles.push_back(medians.back() * *samples.clock_hz);
  }
  for (const std::vector<double>& values : {medians, means, cycles}) {
    EXPECT_LT(std::ranges::max(values) / std::ranges::min(values), 1.003);
  }
  EXPECT_NEAR(cycles.front() / 1.98e6, 1, 0.002) << "1 ms at the full clock";
}

TEST(PowerCap, EveryBatchIsLongEnoughForAClock) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTensor);
  const Samples samples = quick_samples(device);
  for (const double seconds : samples.seconds) {
    EXPECT_GE(seconds * static_cast<double>(samples.launches_per_sample), kShortestClockWindow);
  }
}

TEST(PowerCap, TheEnergyOfTheWindowIsThatOfTheCap) {
  double squares = 0;
  constexpr int kSeeds = 50;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    SimulatedDevice device(parse_simulation(kCappedH100 + std::to_string(seed)), kTensor);
    const Samples samples = quick_samples(device);
    ASSERT_TRUE(samples.window.power);
    squares += std::pow(samples.window.power->per_s / 700 - 1, 2) / kSeeds;
    const auto json = to_json(samples.window, kTensor);
    EXPECT_NEAR(json.at("power_w").get<double>(), 700, 10);
    EXPECT_NEAR(json.at("energy_per_launch_j").get<double>() /
                    (700 * json.at("busy_s").get<double>() / json.at("launches").get<double>()),
                1, 0.02);
  }
  EXPECT_LT(std::sqrt(squares), 0.002);
}

TEST(PowerCap, ARowBelowTheCapStopsWhenItIsPrecise) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTraffic);
  const Samples samples = quick_samples(device, {.seconds = 0.3, .stop = nullptr});
  EXPECT_FALSE(samples.power_capped);
  EXPECT_EQ(samples.power_state, PowerState::full_clock);
  EXPECT_GE(samples.window.busy_s, kShortestPowerWindow_s);
  EXPECT_LT(samples.window.busy_s, kShortestPowerWindow_s + 0.02);
}

// The counter of capped time is renewed every 0.1 s, so that a shorter window may hold no renewal.
TEST(PowerCap, AShortRowFallsIntoOneStateWhateverItsMoment) {
  for (int seed = 1; seed <= 100; ++seed) {
    SimulatedDevice device(parse_simulation(kCappedH100 + std::to_string(seed)), kTensor);
    const Samples samples = quick_samples(device, {.seconds = 0.05, .warm_up_s = 0.5, .stop = {}});
    EXPECT_EQ(samples.power_state, PowerState::capped) << seed;
    EXPECT_GE(samples.window.busy_s, kSustained_s) << seed;
    device.set_work(kTraffic);
    device.pass(2);
    const Samples after = quick_samples(device, {.seconds = 0.05, .warm_up_s = 0.5, .stop = {}});
    EXPECT_EQ(after.power_state, PowerState::full_clock) << seed;
  }
}

TEST(PowerCap, ABurstEndsAfterItsTimeThoughTheLimitIsMet) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTensor);
  const Samples samples = quick_samples(device, {.seconds = 0.3, .most_s = 0.05, .stop = nullptr});
  EXPECT_GE(samples.window.busy_s, 0.05);
  EXPECT_LT(samples.window.busy_s, 0.1);
  EXPECT_GE(samples.seconds.size(), kFewestSamples);
}

TEST(PowerCap, TheShareOfTheTimeDecidesTheState) {
  EXPECT_EQ(power_state(0), PowerState::full_clock);
  EXPECT_EQ(power_state(kCappedShare), PowerState::full_clock);
  EXPECT_EQ(power_state(0.3), PowerState::mixed);
  EXPECT_EQ(power_state(kMostlyCapped), PowerState::capped);
}

TEST(PowerCap, ADeviceThatDoesNotCountItHasNoState) {
  SimulatedDevice device(parse_simulation("noise=0.001"), kTensor);
  EXPECT_FALSE(quick_samples(device).power_state.has_value());
}

TEST(PowerCap, TimeCountsFromTheEndOfTheWarmUp) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTraffic);
  const Samples samples = quick_samples(device, kQuick);  // a warm-up that is longer than the share
  EXPECT_GE(samples.seconds.size(), 30U);
  EXPECT_THAT(samples.flags, Not(Contains("few_samples")));
}

TEST(PowerCap, ACeilingSamplesForItsLeastTime) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTraffic);
  const Samples samples =
      quick_samples(device, {.seconds = 0.3, .least_s = kSustained_s, .stop = nullptr});
  EXPECT_GE(samples.window.busy_s, kSustained_s);
}

// A row of the tensor engine, then one of memory that inherits its cap.
Samples after_a_capped_row(const SamplingLimits& limits) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTensor);
  EXPECT_TRUE(quick_samples(device).power_capped);
  device.set_work(kTraffic);
  return quick_samples(device, limits);
}

TEST(PowerCap, ARowOfAnotherEngineWaitsUntilTheCapHasGone) {
  const SamplingLimits hasty{.seconds = 0.1, .stop = nullptr};
  EXPECT_LT(after_a_capped_row(hasty).clocks_hz.front(), 1.9e9) << "the clock still rises";
  SamplingLimits patient = hasty;
  patient.inherited_cap = true;
  const Samples waited = after_a_capped_row(patient);
  EXPECT_GT(waited.clocks_hz.front(), 1.97e9);
  EXPECT_FALSE(waited.power_capped);
  EXPECT_THAT(waited.flags, Not(Contains("inherited_cap")));
}

TEST(PowerCap, ACapThatHasNotGoneIsFlagged) {
  const Samples samples = after_a_capped_row(
      {.seconds = 0.05, .inherited_cap = true, .cap_wait_s = 0.1, .stop = nullptr});
  EXPECT_THAT(samples.flags, Contains("inherited_cap"));
}

TEST(PowerCap, ARowThatMeetsTheCapItselfDoesNotWaitForItToGo) {
  SimulatedDevice device(parse_simulation(kCappedH100 + std::string("1")), kTensor);
  quick_samples(device);
  SamplingLimits limits = kQuick;
  limits.inherited_cap = true;
  const double start_s = device.now_s();
  EXPECT_THAT(quick_samples(device, limits).flags, Not(Contains("inherited_cap")));
  EXPECT_LT(device.now_s() - start_s, kQuick.warm_up_s + kSustained_s + 1);
}

}  // namespace
}  // namespace ridgebench
