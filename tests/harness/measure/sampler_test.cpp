#include "harness/measure/sampler.hpp"

#include <gmock/gmock.h>

#include "harness/base/statistics.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr Work kWork{.flops = 1e6, .bytes = 1e6};

// Returns a rotation that counts its launches.
std::vector<Launch> counting(std::vector<int>& counts) {
  std::vector<Launch> rotation;
  for (int& count : counts) rotation.emplace_back([&count] { ++count; });
  return rotation;
}

Samples sample(const std::string& simulation, const SamplingLimits& limits,
               Regime regime = Regime::steady, std::size_t sets = 1) {
  SimulatedDevice device(parse_simulation(simulation), kWork);
  std::vector<int> counts(sets);
  return take_samples(device, counting(counts), regime, limits);
}

double tick_of_a_launch(const Samples& samples) {
  return SimulatedDevice({}).tick_s() / static_cast<double>(samples.launches_per_sample);
}

// Without time, the sampler takes kFewestSamples.
const SamplingLimits kNoTime{.seconds = 0, .stop = nullptr};

TEST(Sampler, StopsAtThirtySamplesWhenTheyArePrecise) {
  const Samples samples = sample("noise=0.001", {.seconds = 1, .stop = nullptr});
  EXPECT_EQ(samples.seconds.size(), 30U);
  EXPECT_TRUE(precise(samples.seconds, 0.005, tick_of_a_launch(samples)));
  EXPECT_THAT(samples.flags, Not(Contains("few_samples")));
}

TEST(Sampler, GoesOnUntilTheMedianIsPrecise) {
  const Samples samples = sample("noise=0.02", {.seconds = 2, .stop = nullptr});
  EXPECT_GT(samples.seconds.size(), 60U);
  EXPECT_TRUE(precise(samples.seconds, 0.005, tick_of_a_launch(samples)));
}

TEST(Sampler, TakesSevenSamplesHoweverLittleTimeThereIsAndSaysSo) {
  const Samples samples = sample("", kNoTime);
  EXPECT_EQ(samples.seconds.size(), kFewestSamples);
  EXPECT_THAT(samples.flags, Contains("few_samples"));
}

TEST(Sampler, WarmUpSamplesAreNotAmongThoseKept) {
  SimulatedDevice device(parse_simulation("noise=0,drift=1"), kWork);
  std::vector<int> counts(1);
  const double cold = device.time_batch(counting(counts), 1).seconds;
  const Samples samples = take_samples(device, counting(counts), Regime::steady, kNoTime);
  EXPECT_GE(samples.seconds.front() / cold, 1.003);  // three batches later, each 0.1 % slower
}

TEST(Sampler, FlagsDrift) {
  EXPECT_THAT(sample("noise=0.002,drift=2", {.seconds = 2, .stop = nullptr}).flags,
              Contains("drift"));
  EXPECT_THAT(sample("noise=0.002", {.seconds = 2, .stop = nullptr}).flags, Not(Contains("drift")));
}

TEST(Sampler, FlagsTwoLevels) {
  EXPECT_THAT(sample("noise=0.002,bimodal=0.1", {.seconds = 0.5, .stop = nullptr}).flags,
              Contains("bimodal"));
  EXPECT_THAT(sample("noise=0.002", {.seconds = 0.5, .stop = nullptr}).flags,
              Not(Contains("bimodal")));
}

TEST(Sampler, SamplesUnderASpentCpuQuotaAreFlagged) {
  EXPECT_THAT(sample("cpu_throttle=1", kNoTime).flags, Contains("cpu_throttled"));
  EXPECT_THAT(sample("", kNoTime).flags, Not(Contains("cpu_throttled")));
}

TEST(Sampler, AShortLaunchIsRepeatedUntilABatchSpansAThousandTicks) {
  SimulatedDevice device(parse_simulation("noise=0,gap=1e-8"));  // a tick is 1e-9 s
  std::vector<int> counts(3);
  const Samples samples = take_samples(device, counting(counts), Regime::steady, kNoTime);
  const double batch_s = static_cast<double>(samples.launches_per_sample) * 1e-8;
  EXPECT_GE(batch_s, 1000 * device.tick_s());
  EXPECT_LT(batch_s, 1100 * device.tick_s());
  EXPECT_NEAR(samples.seconds.front(), 1e-8, 1e-14);  // of one launch
}

TEST(Sampler, ALongLaunchIsNotRepeated) {
  EXPECT_EQ(sample("", kNoTime, Regime::steady, 3).launches_per_sample, 3);
}

TEST(Sampler, SteadyRunsWholeRotations) {
  SimulatedDevice device(Simulation{}, kWork);
  std::vector<int> counts(5);
  const Samples samples = take_samples(device, counting(counts), Regime::steady, kNoTime);
  EXPECT_EQ(samples.launches_per_sample % 5, 0);
  EXPECT_EQ(counts, std::vector<int>(5, 1));  // the simulated device runs each set once
}

// Returns work of which the simulated device does `count` launches in 1000 ticks, the shortest time
// of a sample.
Work launches_of_a_sample(double count) { return {.flops = 0, .bytes = 1e-6 / count * 1e12}; }

TEST(Sampler, ABatchIsManySamplesWhereLaunchesBlock) {
  SimulatedDevice device(parse_simulation("noise=0.001,gap=0,bandwidth=1e12"));
  struct Case {
    double launches_in_1000_ticks;
    std::size_t sets;
    std::int64_t samples_per_batch;
    std::int64_t launches_per_sample;
  };
  for (const Case& c : {Case{0.5, 5, 5, 1},
                        {1.55, 16, 10, 1},
                        {2.9, 12, 4, 3},
                        {2.9, 2, 1, 4},
                        {2.9, 1, 1, 3},
                        {0.5, 1, 1, 1}}) {
    std::vector<int> counts(c.sets);
    device.set_work(launches_of_a_sample(c.launches_in_1000_ticks));
    const Samples samples = take_samples(device, counting(counts), Regime::steady,
                                         {.seconds = 0, .divisible = true, .stop = nullptr});
    EXPECT_EQ(samples.launches_per_sample, c.launches_per_sample);
    EXPECT_EQ(samples.samples_per_batch, c.samples_per_batch);
    EXPECT_EQ(std::ssize(samples.seconds) % c.samples_per_batch, 0) << "whole rotations";
    EXPECT_LT(std::ssize(samples.seconds),
              static_cast<std::int64_t>(kFewestSamples) + c.samples_per_batch);
    for (const double seconds : samples.seconds) {
      EXPECT_NEAR(seconds, 1e-6 / c.launches_in_1000_ticks, 1e-8) << "of one launch";
    }
    EXPECT_NEAR(samples.window.busy_s / static_cast<double>(samples.window.launches),
                1e-6 / c.launches_in_1000_ticks, 1e-8);
  }
}

TEST(Sampler, ABatchIsOneSampleWhereItMustBe) {
  EXPECT_EQ(sample("noise=0.001", kNoTime, Regime::steady, 5).launches_per_sample, 5);
}

TEST(Sampler, ColdStaysOnOneSet) {
  SimulatedDevice device(Simulation{}, kWork);
  std::vector<int> counts(5);
  take_samples(device, counting(counts), Regime::cold, kNoTime);
  EXPECT_GT(counts.front(), 0);
  counts.front() = 0;
  EXPECT_EQ(counts, std::vector<int>(5));
}

TEST(Sampler, AColdSampleIsOneLaunchHoweverShort) {
  EXPECT_EQ(sample("noise=0,gap=1e-8,peak=1e15,bandwidth=1e15", kNoTime, Regime::cold)
                .launches_per_sample,
            1);
}

TEST(Sampler, KeepsTheClockHeld) { EXPECT_EQ(sample("clock=1.5e9", kNoTime).clock_hz, 1.5e9); }

TEST(Sampler, StopsBetweenBatchesWhenAskedTo) {
  for (const int asked : {1, 2, 6}) {  // in the warm-up, and between batches
    int questions = 0;
    const SamplingLimits limits{.seconds = 0, .stop = [&] { return ++questions == asked; }};
    EXPECT_THROW(sample("", limits), Interrupted);
    EXPECT_EQ(questions, asked);
  }
}

// Turns that call a function.
class MadeUpTurns final : public Turns {
 public:
  explicit MadeUpTurns(std::function<void()> others) : others_(std::move(others)) {}
  void end_turn() override { others_(); }

 private:
  std::function<void()> others_;
};

TEST(Sampler, EndsItsTurnBeforeEachBatchAndSettlesAfterIt) {
  SimulatedDevice device(parse_simulation("noise=0.001"), kWork);
  std::vector<int> counts(2);
  int turns = 0;
  MadeUpTurns others([&] { ++turns; });
  const SamplingLimits limits{.seconds = 0.05, .stop = nullptr, .turns = &others};
  const Samples samples = take_samples(device, counting(counts), Regime::steady, limits);
  EXPECT_EQ(samples.seconds.size() + 1, static_cast<std::size_t>(turns)) << "all but the first";
  EXPECT_GT(turns, 30) << "however precise, until the time is up";
  EXPECT_EQ(counts.back() - counts.front(), turns) << "a launch on the set that comes last";
}

TEST(Sampler, OfABatchOfManySamplesATurnTakesAFew) {
  SimulatedDevice device(parse_simulation("noise=0.001,gap=0,bandwidth=1e12"),
                         launches_of_a_sample(0.5));
  std::vector<int> counts(9);  // three turns take three each
  std::vector<int> at_first;
  int turns = 0;
  MadeUpTurns others([&] {
    if (turns++ == 3) at_first = counts;  // after the first batch
  });
  const SamplingLimits limits{.seconds = 0, .divisible = true, .stop = nullptr, .turns = &others};
  const Samples samples = take_samples(device, counting(counts), Regime::steady, limits);
  EXPECT_EQ(samples.seconds.size(), counts.size());
  EXPECT_EQ(turns, 6) << "of two batches, of which the first is not kept";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(counts[i] - at_first[i], i % 3 == 2 ? 1 : 0) << "a launch on the set before, " << i;
  }
}

TEST(Sampler, InTurnsASampleIsShortHoweverMuchTimeThereIs) {
  SimulatedDevice device(parse_simulation("noise=0.001,gap=0,bandwidth=1e12"),
                         {.flops = 0, .bytes = 0.95e9});
  std::vector<int> counts(1);
  SamplingLimits limits{.seconds = 0.9, .stop = nullptr};  // a fifth over 30 samples: 6 ms
  const auto launches_per_sample = [&] {
    return take_samples(device, counting(counts), Regime::steady, limits).launches_per_sample;
  };
  EXPECT_EQ(launches_per_sample(), 7);
  MadeUpTurns others([] {});
  limits.turns = &others;
  EXPECT_EQ(launches_per_sample(), 6);
}

TEST(Sampler, TheTimeOfOthersIsNotTheCases) {
  const auto turns_of_a_case = [](double others_s) {
    SimulatedDevice device(parse_simulation("noise=0.001"), kWork);
    std::vector<int> counts(1);
    int turns = 0;
    MadeUpTurns others([&] {
      device.pass(others_s);
      ++turns;
    });
    const SamplingLimits limits{.seconds = 0.1, .stop = nullptr, .turns = &others};
    take_samples(device, counting(counts), Regime::steady, limits);
    return turns;
  };
  EXPECT_GT(turns_of_a_case(0), 30);
  EXPECT_NEAR(turns_of_a_case(0.05), turns_of_a_case(0), 1) << "others took many times as long";
}

TEST(Sampler, ALostDeviceIsReported) { EXPECT_THROW(sample("lose=5", kNoTime), DeviceError); }

TEST(Regime, NamesGoBothWays) {
  for (const Regime regime : {Regime::steady, Regime::cold, Regime::warm}) {
    EXPECT_EQ(parse<Regime>(name(regime)), regime);
  }
  EXPECT_THAT([] { parse<Regime>("hot"); },
              ThrowsMessage<UsageError>(HasSubstr("allowed: steady, cold, warm")));
}

}  // namespace
}  // namespace ridgebench
