// Costs of the samples of a case besides time: totals that only grow, read before the first sample
// and after the last.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/base/step_fit.hpp"
#include "roofline/model.hpp"

namespace ridgebench {

struct Meter {
  std::string_view name;        // with its unit: energy_j, cycles, ...
  std::optional<double> total;  // since some moment in the past; empty if it cannot be read
};

inline constexpr std::string_view kEnergyMeter = "energy_j";
// Seconds for which the power limit lowered the clock.
inline constexpr std::string_view kPowerCappedMeter = "power_capped_s";
// Periods in which a control group had spent its CPU quota (nr_throttled of cpu.stat).
inline constexpr std::string_view kCpuThrottledMeter = "cpu_throttled_periods";

// The total of a meter; empty if there is none of that name, or where it cannot be read.
std::optional<double> total_of(std::string_view name, const std::vector<Meter>& meters);

// From a case's first sample to its last.
struct Window {
  double elapsed_s = 0;  // by the wall
  double busy_s = 0;     // in timed batches
  std::int64_t launches = 0;
  std::vector<Meter> meters;  // differences
  // Watts by a line through the renewals of the energy counter; empty if no thread watches it.
  std::optional<CounterRate> power = std::nullopt;
};

// Differences of two readings of the same meters.
std::vector<Meter> difference(const std::vector<Meter>& before, const std::vector<Meter>& after);

// Adds such differences to a sum of them, which may be empty.
void add_to(std::vector<Meter>& sum, const std::vector<Meter>& differences);

// Seconds. A counter of energy is renewed about ten times a second: a shorter window has no
// meaning. In this one a line through the renewals gives the watts to 0.2 %.
inline constexpr double kShortestEnergyWindow = 2;

// The record's entry `telemetry.window`, with power_w, its standard error power_error_w,
// energy_per_launch_j and energy_per_flop_j. Energy and power are null if the window is too
// short, or where launches did not fill it, as in the cold regime; the error is null without a
// line.
// `work` is that of one launch.
nlohmann::ordered_json to_json(const Window& window, const Work& work);

}  // namespace ridgebench
