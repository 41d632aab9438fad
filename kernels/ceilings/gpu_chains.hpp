// Sizes of the ceilings that run chains of instructions between a GPU's registers.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/common/error.hpp"

namespace ridgebench {

// An SM holds 2048 threads or 1536, by compute capability (CUDA C++ Programming Guide, technical
// specifications per compute capability): this many fill it a whole number of times, so that no SM
// idles while the last of them finish.
inline constexpr std::int64_t kWholeWaveThreads = 6144;

// Steps of a chain, counted in 32 bits: a 64-bit counter would take its share of the loop.
inline int chain_length(std::int64_t iterations) {
  if (iterations > std::numeric_limits<int>::max()) {
    throw Unsupported("a chain would have more than 2^31 - 1 steps");
  }
  return static_cast<int>(iterations);
}

}  // namespace ridgebench
