// Tests the meters of a case's samples, and the windows whose energy they report.
#include "harness/device/meters.hpp"

#include <gmock/gmock.h>

#include "harness/device/cpu/device.hpp"
#include "harness/measure/measurer.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

constexpr Work kWork{.flops = 1e6, .bytes = 1e6};

// 10 launches in 4 s that took 1000 J.
Window window() {
  return {.elapsed_s = 4.1, .busy_s = 4, .launches = 10, .meters = {{kEnergyMeter, 1000.0}}};
}

TEST(Meters, OnlyWhatGrewHasADifference) {
  const std::vector<Meter> before{{"a", 1.0}, {"b", std::nullopt}, {"c", 1.0}, {"d", 5.0}};
  const std::vector<Meter> after{{"a", 3.5}, {"b", 1.0}, {"c", std::nullopt}, {"d", 1.0}};
  const std::vector<Meter> found = difference(before, after);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].total, 2.5);
  EXPECT_FALSE(found[1].total || found[2].total) << "read once only";
  EXPECT_FALSE(found[3].total) << "it began anew";
}

TEST(Meters, EnergyIsToldPerLaunchAndPerFlop) {
  const auto json = to_json(window(), kWork);
  EXPECT_EQ(json["energy_j"], 1000);
  EXPECT_EQ(json["energy_per_launch_j"], 100);
  EXPECT_EQ(json["energy_per_flop_j"], 100 / kWork.flops);
  EXPECT_EQ(json["launches"], 10);
  EXPECT_TRUE(to_json(window(), {.flops = 0, .bytes = 1})["energy_per_flop_j"].is_null());
}

TEST(Meters, EnergyOfAShortOrAnIdleWindowSaysNothing) {
  Window brief = window();
  brief.busy_s = brief.elapsed_s = 1.9;
  Window idle = window();
  idle.elapsed_s = 8;
  for (const Window& bad : {brief, idle, Window{}}) {
    const auto json = to_json(bad, kWork);
    for (const char* key : {"energy_per_launch_j", "energy_per_flop_j"}) {
      EXPECT_TRUE(json[key].is_null()) << "never 0";
    }
  }
  EXPECT_TRUE(to_json(brief, kWork)["energy_j"].is_null());
}

TEST(Meters, ARowGoesOnUntilItsEnergyCanBeTold) {
  SimulatedDevice device(parse_simulation("power=300,noise=0"));
  const MadeUpCase made_up(device);
  const auto window_of = [&](double seconds) {
    const Record record = Measurer(device, Fill::normal, 1).measure(made_up.get(), seconds, {});
    EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
    auto json = record.telemetry.at("window");
    json["time"] = record.time ? record.time->median : 0;
    return json;
  };
  const auto enough = window_of(4);
  EXPECT_GE(enough["busy_s"], kShortestEnergyWindow);
  EXPECT_NEAR(enough["energy_per_launch_j"], 300 * enough["time"].get<double>(), 1e-9);
  EXPECT_TRUE(window_of(0.1)["energy_per_launch_j"].is_null()) << "too little time for it";
}

TEST(Meters, AHostHasTheEnergyOfItsPackagesOrNone) {
  const std::vector<Meter> meters = CpuDevice().meters();
  ASSERT_EQ(meters.size(), 1U);
  EXPECT_EQ(meters.front().name, kEnergyMeter);
  EXPECT_GT(meters.front().total.value_or(1), 0) << "never 0";
}

}  // namespace
}  // namespace ridgebench
