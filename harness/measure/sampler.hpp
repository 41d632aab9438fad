// Takes the samples of a row: warm-up, batches of whole rotations, and when to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/regime.hpp"
#include "harness/device/device.hpp"

namespace ridgebench {

// A row takes at least so many samples, however slow it is.
inline constexpr std::size_t kFewestSamples = 7;

// Of a batch, at most, before another process has its turn.
inline constexpr std::size_t kSamplesPerTurn = 4;

struct Samples {
  std::vector<double> seconds;  // per launch
  std::int64_t samples_per_batch = 1;
  std::int64_t launches_per_sample = 0;  // that each averages; some may average one more
  std::optional<double> clock_hz;        // median of what the device held
  std::vector<std::string> flags;
  Window window;
};

struct SamplingLimits {
  double seconds;              // the row's share of the budget, warm-up included
  double warm_up_s = 0;        // at least (tensor rows on a device whose power settles slowly)
  std::int64_t launched = 0;   // right before, on the same buffers: they count as warm-ups
  bool divisible = false;      // a rotation may be timed in parts, each of which is a sample
  std::function<bool()> stop;  // asked every few samples; true throws Interrupted
  // Called before each turn, if it is set; returns the seconds that others took meanwhile, which
  // are not the row's. The first batch is then not kept, and samples are taken until the time is
  // up, however precise they are.
  std::function<double()> end_turn = nullptr;
};

// Thrown between samples when limits.stop says so.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

// `rotation` holds what a batch launches, in turn over the buffer sets; cold uses the first only.
// Throws what the device throws.
Samples take_samples(Device& device, std::span<const Launch> rotation, Regime regime,
                     const SamplingLimits& limits);

}  // namespace ridgebench
