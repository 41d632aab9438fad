#include "harness/measure/sampling/warm_up.hpp"

#include "harness/base/statistics.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kFewestWarmUps = 3;
// Smallest and largest share of the case's time that the warm-up takes. The times of a few launches
// do not show a slow warm-up, so there is a smallest share.
constexpr double kSmallestWarmUp = 0.1;
constexpr double kLargestWarmUp = 0.25;
// Seconds between two looks at a clock that rises after a power cap, and the rise between two looks
// that counts as one. The energy and violation counters are renewed ten times a second.
constexpr double kCapLook_s = 0.25;
constexpr double kRise = 0.005;

}  // namespace

void check_stop(const SamplingLimits& limits) {
  if (limits.stop && limits.stop()) throw Interrupted();
}

void warm_up(const Device& device, Batch& batch, const SamplingLimits& limits) {
  const double shortest = std::max(limits.warm_up_s, kSmallestWarmUp * limits.seconds);
  const double longest = std::max(limits.warm_up_s, kLargestWarmUp * limits.seconds);
  const double start_s = device.now_s();
  std::vector<double> times;
  std::int64_t launches = limits.launched;
  while (true) {
    check_stop(limits);
    launches += batch.launches();
    times.push_back(batch.time().seconds);
    batch.fit(times.back());
    const double spent_s = device.now_s() - start_s;
    const bool warm = launches >= kFewestWarmUps && spent_s >= shortest && stable_median(times);
    if (warm || (launches >= kFewestWarmUps && spent_s > longest)) return;
  }
}

bool cap_has_gone(const Device& device, Batch& batch, const SamplingLimits& limits) {
  const auto capped_s = [&] {
    return batch.while_busy([&] { return total_of(kPowerCappedMeter, device.meters()); });
  };
  const double deadline_s = device.now_s() + limits.cap_wait_s;
  std::optional<double> before = capped_s();
  double clock_before_hz = 0;
  while (device.now_s() < deadline_s) {
    const double start_s = device.now_s();
    std::vector<double> clocks;
    while (device.now_s() - start_s < kCapLook_s) {
      check_stop(limits);
      const Timing timing = batch.time();
      if (timing.clock_hz) clocks.push_back(*timing.clock_hz);
    }
    const std::optional<double> after = capped_s();
    if (!before || !after) return true;
    if (*after - *before <= kCappedShare * (device.now_s() - start_s)) return true;
    const double clock_hz = clocks.empty() ? 0 : middle(clocks);
    if (!clocks.empty() && clock_hz <= (1 + kRise) * clock_before_hz) return true;
    before = after;
    clock_before_hz = clock_hz;
  }
  return false;
}

}  // namespace ridgebench
