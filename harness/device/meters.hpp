// What the samples of a case cost besides time: totals that only grow, read before the first sample
// and after the last.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "roofline/model.hpp"

namespace ridgebench {

struct Meter {
  std::string_view name;        // with its unit: energy_j, cycles, ...
  std::optional<double> total;  // since some moment in the past; empty where it cannot be read
};

inline constexpr std::string_view kEnergyMeter = "energy_j";
// Periods in which a control group had spent its CPU quota (nr_throttled of cpu.stat).
inline constexpr std::string_view kCpuThrottledMeter = "cpu_throttled_periods";

// The total of a meter; empty where there is none of that name, or where it cannot be read.
std::optional<double> total_of(std::string_view name, const std::vector<Meter>& meters);

// From a case's first sample to its last.
struct Window {
  double elapsed_s = 0;  // by the wall
  double busy_s = 0;     // in timed batches
  std::int64_t launches = 0;
  std::vector<Meter> meters;  // differences
};

// Differences of two readings of the same meters.
std::vector<Meter> difference(const std::vector<Meter>& before, const std::vector<Meter>& after);

// Seconds. A counter of energy is renewed about ten times a second: a shorter window has no
// meaning.
inline constexpr double kShortestEnergyWindow = 2;

// The record's entry `telemetry.window`, with energy_per_launch_j and energy_per_flop_j. Energy is
// null where the window is too short, or where launches did not fill it, as in the cold regime.
// `work` is that of one launch.
nlohmann::ordered_json to_json(const Window& window, const Work& work);

}  // namespace ridgebench
