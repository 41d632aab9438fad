#include "harness/measure/sampling/sustained.hpp"

#include <algorithm>
#include <limits>

#include "harness/measure/sampler.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/model.hpp"

namespace ridgebench {
namespace {

// A ceiling of the memory draws as much power as one of a tensor engine on some boards.
bool settles_slowly(const Case& c) {
  const bool memory = c.is_ceiling() && c.operation->ceiling->resource == Resource::memory &&
                      !c.operation->ceiling->sweep;
  return (c.technique.engine == Engine::tensor || memory) && c.device->tensor_warm_up_s() > 0;
}

// The memory keeps the engine waiting, by the data sheet, so that the power limit is not met.
bool memory_decides(const Case& c) {
  const DeviceSpec* sheet = find_data_sheet(c.device->data_sheet());
  const Peak* peak = sheet == nullptr ? nullptr : sheet->best_peak(c.format.a);
  if (peak == nullptr || c.is_ceiling()) return false;
  return bound(c.work(), {.peak_flops_per_s = peak->flops_per_s,
                          .bandwidth_bytes_per_s = sheet->memory.bandwidth_bytes_per_s}) ==
         Limit::memory;
}

bool sustained_ceiling(const Case& c) {
  return settles_slowly(c) && c.is_ceiling() && !c.technique.burst;
}

}  // namespace

double sustained_warm_up_s(const Case& c, double seconds) {
  constexpr double kHot_s = 10;
  constexpr double kSharesOfWarmUp = 5;
  if (!settles_slowly(c) || c.technique.burst) return 0;
  const double shortest = c.device->tensor_warm_up_s();
  if (!sustained_ceiling(c)) return shortest;
  return std::clamp(kSharesOfWarmUp * seconds, shortest, kHot_s);
}

double sustained_sampling_s(const Case& c) { return sustained_ceiling(c) ? kSustained_s : 0; }

double longest_sampling_s(const Case& c) {
  constexpr double kBurst_s = 0.05;
  return settles_slowly(c) && c.technique.burst ? kBurst_s
                                                : std::numeric_limits<double>::infinity();
}

double beyond_share_s(const Case& c, double seconds) {
  if (!settles_slowly(c)) return 0;
  const double sampling_s = c.technique.burst || memory_decides(c) ? 0 : kSustained_s;
  return sustained_warm_up_s(c, seconds) + std::max(0.0, sampling_s - seconds);
}

}  // namespace ridgebench
