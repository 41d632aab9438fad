// wgmma: what include/kernels/common/cuda/wgmma.cuh, the stand-in of the kernels' header, calls.
#pragma once

#include <cstdint>
#include <source_location>

#include "kernels/common/format.hpp"

namespace ridgebench::emulator {

// One wgmma.mma_async of 64 rows and 32 bytes of k, as a thread gives it.
struct Wgmma {
  Format a_format, b_format;
  unsigned columns;
  bool across_a, across_b;  // memory is contiguous across k: "MN-major"
  std::uint64_t a, b;       // matrix descriptors
  bool add;
  float* sums;  // columns / 2
};

using Where = std::source_location;

void wgmma_fence(const Where& where = Where::current());
void wgmma_multiply(const Wgmma& product, const Where& where = Where::current());
void wgmma_commit(const Where& where = Where::current());
void wgmma_wait(int pending, const Where& where = Where::current());

}  // namespace ridgebench::emulator
