// The sampler warms a case up, times batches of whole rotations, and decides when to stop.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/power_state.hpp"
#include "harness/base/regime.hpp"
#include "harness/device/device.hpp"
#include "harness/measure/turns.hpp"

namespace ridgebench {

class Probes;

// Minimum samples of a case.
inline constexpr std::size_t kFewestSamples = 7;

// Seconds under load that a case samples if the power limit lowers its clock.
inline constexpr double kSustained_s = 2;

struct Samples {
  std::vector<double> seconds;  // per launch
  std::int64_t samples_per_batch = 1;
  std::int64_t launches_per_sample = 0;  // the fewest; some samples average one more
  std::vector<double> clocks_hz;         // held during each; empty if one is unknown
  std::optional<double> clock_hz;        // median of the known ones
  bool power_capped = false;             // the power limit lowered the clock
  // Empty where the device does not count the time for which the limit lowers its clock, where
  // launches leave it idle, and below kShortestPowerWindow_s.
  std::optional<PowerState> power_state;
  std::vector<std::string> flags;
  Window window;
  // From the start of the warm-up to the last sample, where limits.least_s asks for it.
  std::vector<LoadReading> load;
};

struct SamplingLimits {
  double seconds;        // the case's share of the budget, from the end of the warm-up
  double warm_up_s = 0;  // shortest warm-up, for tensor cases whose power settles slowly
  // Shortest sampling, in seconds under load, of a case that has to be hot. Its readings of power
  // and clock are kept.
  double least_s = 0;
  // Longest sampling, in seconds under load, unless the fewest samples take longer.
  double most_s = std::numeric_limits<double>::infinity();
  std::int64_t launched = 0;  // warm-up launches that ran before on the same buffers
  bool divisible = false;     // each part of a rotation may be a sample
  // The power limit lowered the clock of the case before, which kept another engine busy. The
  // sampler waits until the clock no longer rises, but not longer than cap_wait_s, and flags the
  // case `inherited_cap` if it still does.
  bool inherited_cap = false;
  double cap_wait_s = 2;
  std::function<bool()> stop;  // called every few samples; true throws Interrupted
  // Null: the case has no probes.
  Probes* probes = nullptr;
  // Null if processes take no turns. In turns, the sampler does not count the time of other
  // processes, drops the first batch, and samples until the time is up.
  Turns* turns = nullptr;
};

// Thrown between samples when limits.stop returns true.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

// `rotation` holds one launch for each buffer set. The cold regime uses the first launch only. An
// asynchronous device is busy without a gap from the warm-up to the last sample, in the other
// regimes and without turns: it gets each batch before the last one is done, and its meters are
// read while it is busy. A pause would let its power controller overshoot. The clock of the limits
// is the device's.
// Throws Interrupted, and rethrows exceptions of the device.
Samples take_samples(Device& device, std::span<const Launch> rotation, Regime regime,
                     const SamplingLimits& limits);

}  // namespace ridgebench
