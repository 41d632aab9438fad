// Ceiling of a GPU's shared memory: n elements, brought in once, are read again and again
// (repeated_read.hpp). It is listed beside the caches as level 1, whose memory it shares.
#pragma once

#include "kernels/ceilings/repeated_read.hpp"

namespace ridgebench {

inline constexpr std::int64_t kSharedElements = 8192;  // 32 KiB, what a block holds

namespace shared_detail {

inline Operation shared_read() {
  Operation op = repeated_read("shared_read", 1);
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0) return {};  // hosts have nothing of the kind
    // Two blocks fit into the shared memory of every SM; 4 million clocks at 128 bytes each.
    constexpr std::int64_t kBlocksPerUnit = 2;
    return {Shape({{"n", kSharedElements * kBlocksPerUnit * machine.units}, {"passes", 8192}})};
  };
  // 32 banks of 4 bytes (CUDA C++ Programming Guide, shared memory of every compute capability).
  op.ceiling->most_per_clock = [](const Machine& machine, FormatPair) {
    return machine.compute_capability > 0 ? 32.0 * 4 : 0;
  };
  return op;
}

}  // namespace shared_detail

inline const RegisterOperation shared_read{shared_detail::shared_read()};

}  // namespace ridgebench
