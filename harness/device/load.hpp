// Power, clock and temperature of a GPU over the time of a load, and when they settle.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

namespace ridgebench {

// Readings of a device at one moment; empty if it has none.
struct LoadReading {
  double time_s = 0;  // since some moment in the past
  std::optional<double> power_w;
  std::optional<double> sm_clock_hz;
  std::optional<double> temperature_c;
};

// Fewest readings of a load that may settle: about a second of them.
inline constexpr std::size_t kFewestLoadReadings = 20;
// Share of its last value by which power or clock may differ once it has settled.
inline constexpr double kSettledBand = 0.02;

// Seconds from the first reading to the moment from which on power and clock both stay within 2 %
// of their last values. The last value is the median of the last quarter of the readings; a
// reading counts as the median of the five around it. The temperature rises for minutes and does
// not count. Empty if that moment is not before the last quarter, if there are fewer than
// kFewestLoadReadings, and if neither power nor clock can be read.
std::optional<double> settle_s(std::span<const LoadReading> readings);

// The record's entry `telemetry.load`: settle_s, and each quantity as a list, with times from the
// first reading.
nlohmann::ordered_json to_json(std::span<const LoadReading> readings);

}  // namespace ridgebench
