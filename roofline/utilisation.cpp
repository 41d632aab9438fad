#include "roofline/utilisation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ridgebench {
namespace {

constexpr double kLaunchFloors = 10;
constexpr double kPhysicsMargin = 1.01;

std::optional<double> fraction_of_peak(const Timed& row, std::optional<double> peak_flops_per_s) {
  if (!peak_flops_per_s || row.work.flops == 0) return std::nullopt;
  return row.work.flops / row.time_s / *peak_flops_per_s;
}

}  // namespace

std::optional<double> mfu(const Timed& row, const DeviceSpec* sheet, Format format) {
  const Peak* peak = sheet == nullptr ? nullptr : sheet->best_peak(format);
  if (peak == nullptr) return std::nullopt;
  return fraction_of_peak(row, peak->flops_per_s);
}

std::optional<double> peak_at_clock_flops_per_s(const DeviceSpec* sheet, Format format,
                                                std::optional<double> clock_hz) {
  const Peak* peak = sheet == nullptr ? nullptr : sheet->best_peak(format);
  if (peak == nullptr || !peak->flops_per_clock_per_sm || !clock_hz) return std::nullopt;
  return *peak->flops_per_clock_per_sm * sheet->sms * *clock_hz;
}

std::optional<double> fraction_of_roof_at_clock(const Timed& row,
                                                std::optional<double> peak_at_clock_flops_per_s) {
  return fraction_of_peak(row, peak_at_clock_flops_per_s);
}

std::optional<double> fraction_of_measured_roof(const Timed& row, const Limits& limits) {
  if (!limits.roof) return std::nullopt;
  const double least_s = time_lower_bound_s(row.work, *limits.roof);
  return std::max(least_s, limits.special_s.value_or(0)) / row.time_s;
}

std::optional<Limit> row_bound(const Timed& row, const Limits& limits) {
  if (limits.launch_floor_s && row.time_s < kLaunchFloors * *limits.launch_floor_s) {
    return Limit::launch;
  }
  if (!limits.roof) return std::nullopt;
  if (limits.special_s.value_or(0) > time_lower_bound_s(row.work, *limits.roof)) {
    return Limit::special;
  }
  return bound(row.work, *limits.roof);
}

std::optional<std::string> miscounted(const Timed& row, const Physics& physics) {
  const double bytes_per_s = row.work.bytes / row.time_s;
  const double flops_per_s = row.work.flops / row.time_s;
  if (physics.bandwidth_bytes_per_s &&
      bytes_per_s > kPhysicsMargin * *physics.bandwidth_bytes_per_s) {
    return fmt::format("miscounted: {:.4g} byte/s is more than the memory carries, {:.4g}",
                       bytes_per_s, *physics.bandwidth_bytes_per_s);
  }
  if (physics.issue_flops_per_s && flops_per_s > kPhysicsMargin * *physics.issue_flops_per_s) {
    return fmt::format("miscounted: {:.4g} FLOP/s is more than the engine issues, {:.4g}",
                       flops_per_s, *physics.issue_flops_per_s);
  }
  return std::nullopt;
}

}  // namespace ridgebench
