#include "harness/device/meters.hpp"

#include <algorithm>
#include <string>

#include "roofline/nullable.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

// Smallest share of the window that batches fill. Between them, an idle device draws less power.
constexpr double kSmallestBusyShare = 0.9;

// Joules of the window; empty if they are not those of its launches.
std::optional<double> energy(const Window& window) {
  if (window.busy_s < kShortestEnergyWindow) return std::nullopt;
  if (window.busy_s < kSmallestBusyShare * window.elapsed_s) return std::nullopt;
  if (window.power) return window.power->per_s * window.busy_s;
  return total_of(kEnergyMeter, window.meters);
}

}  // namespace

std::optional<double> total_of(std::string_view name, const std::vector<Meter>& meters) {
  const auto meter = std::ranges::find(meters, name, &Meter::name);
  return meter == meters.end() ? std::nullopt : meter->total;
}

std::vector<Meter> difference(const std::vector<Meter>& before, const std::vector<Meter>& after) {
  std::vector<Meter> result = after;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const bool grew = before[i].total && after[i].total && *after[i].total >= *before[i].total;
    result[i].total = grew ? std::optional(*after[i].total - *before[i].total) : std::nullopt;
  }
  return result;
}

void add_to(std::vector<Meter>& sum, const std::vector<Meter>& differences) {
  if (sum.empty()) {
    sum = differences;
    return;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const bool known = sum[i].total && differences[i].total;
    sum[i].total = known ? std::optional(*sum[i].total + *differences[i].total) : std::nullopt;
  }
}

ordered_json to_json(const Window& window, const Work& work) {
  ordered_json json{
      {"elapsed_s", window.elapsed_s}, {"busy_s", window.busy_s}, {"launches", window.launches}};
  const std::optional<double> joules = energy(window);
  for (const Meter& meter : window.meters) {
    json[std::string(meter.name)] = nullable(meter.name == kEnergyMeter ? joules : meter.total);
  }
  std::optional<double> watts;
  std::optional<double> error;
  std::optional<double> per_launch;
  std::optional<double> per_flop;
  if (joules) watts = window.power ? window.power->per_s : *joules / window.elapsed_s;
  if (joules && window.power) error = window.power->error_per_s;
  if (joules) per_launch = *joules / static_cast<double>(window.launches);
  if (joules && work.flops > 0) per_flop = *per_launch / work.flops;
  json["power_w"] = nullable(watts);
  json["power_error_w"] = nullable(error);
  json["energy_per_launch_j"] = nullable(per_launch);
  json["energy_per_flop_j"] = nullable(per_flop);
  return json;
}

}  // namespace ridgebench
