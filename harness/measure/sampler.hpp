// Takes the samples of a case: the warm-up, batches of whole rotations, and when to stop.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/regime.hpp"
#include "harness/device/device.hpp"
#include "harness/measure/turns.hpp"

namespace ridgebench {

// Every case takes at least this many samples, however slow it is.
inline constexpr std::size_t kFewestSamples = 7;

// Maximum samples of a batch between two turns.
inline constexpr std::size_t kSamplesPerTurn = 4;

struct Samples {
  std::vector<double> seconds;  // per launch
  std::int64_t samples_per_batch = 1;
  std::int64_t launches_per_sample = 0;  // the fewest; some samples average one more
  std::optional<double> clock_hz;        // median of what the device held
  std::vector<std::string> flags;
  Window window;
};

struct SamplingLimits {
  double seconds;              // the case's share of the budget, warm-up included
  double warm_up_s = 0;        // the shortest (tensor cases where power settles slowly)
  std::int64_t launched = 0;   // warm-up launches that ran just before, on the same buffers
  bool divisible = false;      // a rotation may be timed in parts, each of which is a sample
  std::function<bool()> stop;  // called every few samples; true throws Interrupted
  // Where processes take turns; null otherwise. The time of other processes is not the case's. The
  // first batch is not kept, and sampling goes on until the time is up, however precise it is.
  Turns* turns = nullptr;
};

// Thrown between samples when limits.stop returns true.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

// `rotation` holds the launches of a batch, one for each buffer set; cold uses the first only.
// Throws Interrupted, and what the device throws.
Samples take_samples(Device& device, std::span<const Launch> rotation, Regime regime,
                     const SamplingLimits& limits);

}  // namespace ridgebench
