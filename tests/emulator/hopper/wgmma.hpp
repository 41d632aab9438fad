// wgmma: the functions that include/kernels/common/cuda/ptx/wgmma.cuh calls.
#pragma once

#include <array>
#include <cstdint>
#include <source_location>

#include "kernels/common/format.hpp"

namespace ridgebench::emulator {

// What a thread holds of a warp's 16 rows of A and 32 bytes of k.
using FragmentA = std::array<std::uint32_t, 4>;

// The operands of one wgmma.mma_async of 64 rows and 32 bytes of k in one thread.
struct Wgmma {
  Format a_format, b_format;
  unsigned columns;
  bool across_a, across_b;  // MN-major
  std::uint64_t a, b;       // matrix descriptors
  bool add;
  void* sums;                               // columns / 2, of sum_format(a_format)
  const std::uint32_t* fragment = nullptr;  // A in registers, instead of in shared memory
  std::uint32_t metadata = 0;               // of a sparse A, whose B has 64 bytes of k; else 0
};

using Where = std::source_location;

// warpgroup_fence_operand() of A's registers: the thread wrote them.
void wgmma_fragment(const std::uint32_t* fragment);
void wgmma_fence(const Where& where = Where::current());
void wgmma_multiply(const Wgmma& product, const Where& where = Where::current());
void wgmma_commit(const Where& where = Where::current());
void wgmma_wait(int pending, const Where& where = Where::current());

}  // namespace ridgebench::emulator
