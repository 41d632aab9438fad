#include "harness/device/cuda/telemetry.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <thread>

#include "harness/base/stopwatch.hpp"
#include "harness/device/cuda/nvml.hpp"
#include "harness/results/worn.hpp"

namespace ridgebench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Nvml> open_fake() {
  std::string reason;
  auto nvml = Nvml::open("GPU-fake", reason, RIDGEBENCH_FAKE_NVML);
  EXPECT_NE(nvml, nullptr) << reason;
  return nvml;
}

TEST(Nvml, ReadsInSiUnits) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  EXPECT_EQ(nvml->sm_clock_hz(), 1755e6);
  EXPECT_EQ(nvml->memory_clock_hz(), 2619e6);
  EXPECT_EQ(nvml->energy_j(), 5);
  EXPECT_EQ(nvml->memory_temperature_c(), 61);
  EXPECT_EQ(nvml->processes(), 3) << "a list too small still gives their number";
}

TEST(Nvml, TakesTheInventory) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const auto json = nvml->inventory();
  EXPECT_EQ(json.at("clocks").at("max_sm_hz"), 1980e6);
  EXPECT_EQ(json.at("clocks").at("application_sm_hz"), 1830e6);
  EXPECT_EQ(json.at("power_limit_w"), 700);
  EXPECT_EQ(json.at("power_limits_w").at("default"), 650);
  EXPECT_EQ(json.at("power_limits_w").at("min"), 200);
  EXPECT_EQ(json.at("power_limits_w").at("max"), 700);
  EXPECT_EQ(json.at("pcie").at("generation"), 4U);
  EXPECT_EQ(json.at("pcie").at("max_generation"), 5U);
  EXPECT_EQ(json.at("pcie").at("lanes"), 16U);
  EXPECT_EQ(json.at("vbios"), "96.00.99.00.01");
  EXPECT_EQ(json.at("driver"), "580.65.06");
  EXPECT_EQ(json.at("inforom"), "G520.0200.00.05");
  EXPECT_EQ(json.at("gsp_firmware"), "580.65.06");
  EXPECT_EQ(json.at("ecc"), true);
  EXPECT_EQ(json.at("pending_ecc"), false);
  EXPECT_EQ(json.at("persistence"), false);
  EXPECT_EQ(json.at("nvlinks"), 4U) << "two of its six links are down";
  EXPECT_EQ(json.at("nvlinks_present"), 6U);
  const auto& rows = json.at("remapped_rows");
  EXPECT_EQ(rows.at("corrected"), 3U);
  EXPECT_EQ(rows.at("uncorrected"), 1U);
  EXPECT_EQ(rows.at("pending"), true);
  EXPECT_EQ(rows.at("failed"), false);
}

TEST(Nvml, WhatIsMissingOrRefusedIsEmpty) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const auto json = nvml->inventory();
  EXPECT_FALSE(json.contains("mig")) << "the library lacks the function";
  EXPECT_FALSE(json.contains("compute_mode") || json.at("pcie").contains("max_lanes"))
      << "and these";
  EXPECT_FALSE(nvml->temperature_c()) << "the device refuses";
  EXPECT_FALSE(nvml->performance_state()) << "the device does not know";
  EXPECT_FALSE(json.contains("board_part_number")) << "the device refuses";
  EXPECT_FALSE(nvml->uncorrected_errors()) << "the device refuses";
}

TEST(Nvml, ReportsHealth) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  EXPECT_DOUBLE_EQ(nvml->power_capped_s().value_or(0), 1.5);
  EXPECT_DOUBLE_EQ(nvml->heat_capped_s().value_or(0), 0.25);
  EXPECT_EQ(nvml->corrected_errors(), 12);
  EXPECT_EQ(nvml->remapped_rows().at("uncorrected"), 1);
  EXPECT_EQ(nvml->xids(), 0U);
  EXPECT_EQ(nvml->xids(), 2U) << "two happened since";
  EXPECT_EQ(nvml->xids(), 2U);
}

TEST(Nvml, ClockEventsHaveAnOlderName) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  ASSERT_TRUE(nvml->clock_events());
  EXPECT_THAT(names_of_clock_events(*nvml->clock_events()),
              ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
}

TEST(Nvml, SaysWhyThereIsNone) {
  std::string reason;
  EXPECT_EQ(Nvml::open("GPU-fake", reason, "libno-such-library.so.1"), nullptr);
  EXPECT_THAT(reason, HasSubstr("libno-such-library.so.1 is not installed"));
  EXPECT_EQ(Nvml::open("GPU-other", reason, RIDGEBENCH_FAKE_NVML), nullptr);
  EXPECT_THAT(reason, HasSubstr("does not know the device"));
}

TEST(Telemetry, ReportsTheStateOfAMoment) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const auto state = state_of(*nvml);
  EXPECT_EQ(state.at("memory_clock_hz"), 2619e6);
  EXPECT_EQ(state.at("memory_temperature_c"), 61);
  EXPECT_TRUE(state.at("temperature_c").is_null()) << "never 0, never absent";
  EXPECT_EQ(state.at("heat_capped_s"), 0.25);
  EXPECT_THAT(state.at("clock_events"), ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
  EXPECT_EQ(state.at("other_processes"), 2);
}

TEST(Telemetry, ACounterOfFaultsThatGrowsIsSeen) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const FaultCounters before = fault_counters(state_of(*nvml));
  EXPECT_EQ(before.at("remapped_rows.uncorrected"), 1);
  EXPECT_EQ(before.at("remapped_rows.pending"), 1) << "a flag";
  EXPECT_FALSE(before.contains("ecc_lifetime.corrected")) << "the device refuses";
  EXPECT_FALSE(before.contains("power_capped_s")) << "no fault";
  const auto grown = growth_of(before, fault_counters(state_of(*nvml)));
  std::set<std::string> names;
  for (const Growth& one : grown) names.insert(one.counter);
  EXPECT_THAT(names, ElementsAre("pcie_replays", "xids"));
  EXPECT_EQ(grown.front().after, grown.front().before + 1);
}

// Waits until three or more are there.
std::vector<LoadReading> three_readings(Telemetry& telemetry, double since_s) {
  std::vector<LoadReading> readings;
  while (readings.size() < 3) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    readings = telemetry.load_readings(since_s);
  }
  return readings;
}

TEST(Telemetry, KeepsTheReadingsOfALoadWithTheirTimes) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const double start_s = steady_s();
  Telemetry telemetry(*nvml);
  const std::vector<LoadReading> all = three_readings(telemetry, start_s);
  EXPECT_EQ(all[0].sm_clock_hz, 1755e6);
  EXPECT_TRUE(all[0].power_w.has_value());
  EXPECT_FALSE(all[0].temperature_c.has_value()) << "the device refuses";
  EXPECT_LT(all[0].time_s, all[1].time_s);
  EXPECT_EQ(telemetry.load_readings(all[1].time_s).size(), all.size() - 1);
  EXPECT_TRUE(telemetry.load_readings(steady_s() + 60).empty());
}

TEST(Telemetry, GivesMedianAndRangeOfWhatItSampled) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const double first = *nvml->power_w();  // the fake reads 100, 300, 200 W and so on
  Telemetry telemetry(*nvml);
  three_readings(telemetry, 0);
  const auto json = telemetry.stop();
  EXPECT_GE(json["samples"], 3);
  EXPECT_EQ(json["power_w"]["median"], 200);
  EXPECT_GE(json["power_w"]["max"], 200);
  EXPECT_GE(first, 100);
  EXPECT_EQ(json["sm_clock_hz"]["min"], 1755e6);
  EXPECT_EQ(json["sm_clock_hz"]["max"], 1755e6);
  EXPECT_TRUE(json["temperature_c"].is_null()) << "never 0";
  EXPECT_THAT(json["clock_events"], ElementsAre("sw_power_cap", "hw_thermal_slowdown"));
  EXPECT_EQ(json["other_processes"], 2) << "this process is one of the three";
}

TEST(Telemetry, KeepsTheReadingsOfTheEnergyCounter) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const double start_s = steady_s();
  Telemetry telemetry(*nvml);
  std::vector<CounterReading> readings;
  while (readings.size() < 3) readings = telemetry.energy_readings(start_s);
  EXPECT_EQ(readings.front().total, 5);
  EXPECT_GE(readings.front().time_s, start_s);
  EXPECT_GT(readings.back().time_s, readings.front().time_s);
  EXPECT_LE(readings.back().time_s, steady_s());
  EXPECT_TRUE(telemetry.energy_readings(steady_s() + 60).empty());
}

TEST(Telemetry, MayBeLeftToItsDestructor) {
  const auto nvml = open_fake();
  ASSERT_TRUE(nvml);
  const Telemetry telemetry(*nvml);
}

}  // namespace
}  // namespace ridgebench
