#include "harness/device/load.hpp"

#include <algorithm>
#include <cmath>

#include "harness/base/statistics.hpp"
#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using Quantity = std::optional<double> LoadReading::*;

constexpr std::size_t kSmoothed = 5;

// Values of a quantity with their times, where they are known.
struct Series {
  std::vector<double> times_s;
  std::vector<double> values;
};

Series series_of(std::span<const LoadReading> readings, Quantity quantity) {
  Series series;
  for (const LoadReading& reading : readings) {
    if (!(reading.*quantity)) continue;
    series.times_s.push_back(reading.time_s);
    series.values.push_back(*(reading.*quantity));
  }
  return series;
}

// Median of `values` from `first` to `last`, which is behind the last one.
double median_between(const std::vector<double>& values, std::size_t first, std::size_t last) {
  const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  std::vector<double> part(at(first), at(last));
  return middle(part);
}

// When the quantity settles; empty if it does not.
std::optional<double> settled_at(const Series& series) {
  const std::size_t count = series.values.size();
  const std::size_t last_quarter = count - count / 4;
  const double last = median_between(series.values, last_quarter, count);
  std::size_t settled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i - std::min(i, kSmoothed / 2);
    const std::size_t end = std::min(i + kSmoothed / 2 + 1, count);
    const double value = median_between(series.values, first, end);
    if (std::abs(value - last) > kSettledBand * last) settled = i + 1;
  }
  if (settled >= last_quarter) return std::nullopt;
  return series.times_s[settled];
}

}  // namespace

std::optional<double> settle_s(std::span<const LoadReading> readings) {
  std::optional<double> latest;
  for (const Quantity quantity : {&LoadReading::power_w, &LoadReading::sm_clock_hz}) {
    const Series series = series_of(readings, quantity);
    if (series.values.empty()) continue;
    if (series.values.size() < kFewestLoadReadings) return std::nullopt;
    const std::optional<double> at = settled_at(series);
    if (!at) return std::nullopt;
    latest = std::max(latest.value_or(0), *at - readings.front().time_s);
  }
  return latest;
}

ordered_json to_json(std::span<const LoadReading> readings) {
  ordered_json json{{"settle_s", nullable(settle_s(readings))}};
  for (const LoadReading& reading : readings) {
    json["time_s"].push_back(reading.time_s - readings.front().time_s);
    json["power_w"].push_back(nullable(reading.power_w));
    json["sm_clock_hz"].push_back(nullable(reading.sm_clock_hz));
    json["temperature_c"].push_back(nullable(reading.temperature_c));
  }
  return json;
}

}  // namespace ridgebench
