// Rows of a simulated H100 at its power cap, from the measurement to the line of records.jsonl.
#include <gmock/gmock.h>

#include <limits>

#include "harness/measure/measurer.hpp"
#include "harness/measure/sampling/sustained.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Arithmetic of an element takes 10 ns, its traffic next to nothing.
constexpr const char* kH100 =
    "sheet=h100-sxm,clock=1.98e9,peak=1e8,bandwidth=1e12,gap=0,noise=0.002,power_limit=700,"
    "draw=1200";
constexpr double kQuickShare_s = 0.3;

Record measured_on(Measurer& measurer, Device& device, Engine engine, std::int64_t n) {
  MadeUpCase made_up(device, MadeUpCase::copy, n);
  made_up.implementation.technique.engine = engine;
  const Record record = measurer.measure(made_up.get(), kQuickShare_s, nullptr);
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
  return parse_record(to_json(record).dump(), "line");
}

TEST(SimulatedH100, EveryTensorRowHasThirtySamplesCyclesAndEnergy) {
  SimulatedDevice device(parse_simulation(kH100));
  Measurer measurer(device, Fill::normal, 1);
  for (const std::int64_t n : {1'000, 20'000, 100'000}) {
    const Record record = measured_on(measurer, device, Engine::tensor, n);
    EXPECT_GE(record.samples_s.size(), 30U);
    EXPECT_EQ(record.clocks_hz.size(), record.samples_s.size());
    ASSERT_TRUE(record.time && record.cycles_median && record.time_mean_s);
    EXPECT_LT(record.time->ci_high - record.time->ci_low, 0.005 * record.time->median);
    EXPECT_NEAR(*record.cycles_median / (19.8 * static_cast<double>(n)), 1, 0.005);
    EXPECT_LE(*record.cycles_ci_low, *record.cycles_median);
    EXPECT_GE(*record.cycles_ci_high, *record.cycles_median);
    EXPECT_NEAR(*record.time_mean_s / record.time->median, 1, 0.005);
    EXPECT_THAT(record.flags, Not(Contains("few_samples")));
    EXPECT_THAT(record.flags, Not(Contains("inherited_cap")));
    const auto& window = record.telemetry.at("window");
    EXPECT_NEAR(window.at("power_w").get<double>(), 700, 10);
    EXPECT_GT(window.at("power_error_w").get<double>(), 0);
    EXPECT_NEAR(window.at("energy_per_launch_j").get<double>() / (700 * record.time->median), 1,
                0.02);
    EXPECT_THAT(record.telemetry.at("clock_events"), Contains("sw_power_cap"));
  }
}

TEST(SimulatedH100, ARowOfMemoryAfterOneAtTheCapHoldsTheFullClock) {
  SimulatedDevice device(parse_simulation(kH100));
  Measurer measurer(device, Fill::normal, 1);
  EXPECT_LT(*measured_on(measurer, device, Engine::tensor, 20'000).clock_hz, 1.7e9);
  MadeUpCase made_up(device);
  made_up.operation.flops = [](const Shape&) { return 0.0; };
  const Record row = measurer.measure(made_up.get(), kQuickShare_s, nullptr);
  ASSERT_EQ(row.status, Status::ok) << row.reason.value_or("");
  EXPECT_NEAR(*row.clock_hz, 1.98e9, 5e6);
  EXPECT_LT(*row.cycles_ci_high - *row.cycles_ci_low, 0.005 * *row.cycles_median);
  EXPECT_THAT(row.flags, Not(Contains("inherited_cap")));
}

TEST(SimulatedH100, ATensorCeilingSamplesForTwoSecondsWhenItIsHot) {
  SimulatedDevice device(parse_simulation(kH100));
  MadeUpCase made_up(device);
  made_up.implementation.technique.engine = Engine::tensor;
  made_up.operation.ceiling = Ceiling{.resource = Resource::tensor};
  EXPECT_EQ(sustained_warm_up_s(made_up.get(), 0.3), 1.5);
  EXPECT_EQ(sustained_warm_up_s(made_up.get(), 2), 10);
  EXPECT_EQ(sustained_sampling_s(made_up.get()), kSustained_s);
  EXPECT_EQ(beyond_share_s(made_up.get(), 0.5), 2.5 + 1.5);
  made_up.implementation.technique.burst = true;
  EXPECT_EQ(sustained_sampling_s(made_up.get()), 0);
  EXPECT_EQ(sustained_warm_up_s(made_up.get(), 0.3), 0);
  EXPECT_EQ(longest_sampling_s(made_up.get()), 0.05);
  made_up.implementation.technique.engine = Engine::memory;
  EXPECT_EQ(longest_sampling_s(made_up.get()), std::numeric_limits<double>::infinity());
  made_up.operation.ceiling = Ceiling{.resource = Resource::memory};
  EXPECT_EQ(longest_sampling_s(made_up.get()), 0.05) << "ceilings of the memory have bursts, too";
  made_up.implementation.technique.burst = false;
  EXPECT_EQ(sustained_warm_up_s(made_up.get(), 0.3), 1.5);
  EXPECT_EQ(sustained_sampling_s(made_up.get()), kSustained_s);
  made_up.implementation.technique.engine = Engine::tensor;
  SimulatedDevice host{Simulation{}};
  made_up.implementation.technique.burst = false;
  Case on_host = made_up.get();
  on_host.device = &host;
  EXPECT_EQ(sustained_warm_up_s(on_host, 2) + sustained_sampling_s(on_host), 0);
  EXPECT_EQ(beyond_share_s(on_host, 2), 0);
  EXPECT_EQ(longest_sampling_s(on_host), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace ridgebench
