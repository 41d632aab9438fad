// Sizes of the ceilings that run chains of instructions between a GPU's registers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "kernels/common/error.hpp"
#include "kernels/common/machine.hpp"

namespace ridgebench {

// An SM holds 2048 or 1536 threads (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"). This number of threads fills it a whole number of times, so that no SM
// idles while the last threads finish.
inline constexpr std::int64_t kWholeWaveThreads = 6144;

// The threads of one SM. A launch of as many has one wave: all blocks start and end together, and
// no SM idles at the edges between waves.
inline std::int64_t threads_of_wave(const Machine& machine) {
  switch (machine.compute_capability) {
    case 75:
      return 1024;
    case 86:
    case 87:
    case 89:
    case 120:
    case 121:
      return 1536;
    default:
      return 2048;
  }
}

// Steps of a chain that make such a launch a millisecond or two long.
inline constexpr std::int64_t kWaveIterations = 24576;

// A kernel counts the steps of a chain in 32 bits, because a 64-bit counter would slow its loop
// down. For Technique::supports: why a chain cannot have this length.
inline std::optional<std::string> chain_limit(std::int64_t iterations) {
  if (iterations <= std::numeric_limits<int>::max()) return std::nullopt;
  return "a chain would have more than 2^31 - 1 steps";
}

// Throws Unsupported where chain_limit has a reason.
inline int chain_length(std::int64_t iterations) {
  if (const auto reason = chain_limit(iterations)) throw Unsupported(*reason);
  return static_cast<int>(iterations);
}

}  // namespace ridgebench
