// What the kernels for wgmma share: a stage of operands in units (kernels/common/cuda/unit.hpp),
// and the products of one stage. The units of a tile's vectors, 64 each, follow each other.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/ptx/warpgroup.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_sums.hpp"
#include "kernels/common/cuda/unit.hpp"
#include "kernels/matmul/tile/epilogue.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

// Sums of a warpgroup: kDown times 64 rows of kColumns columns.
template <int kDown, int kColumns>
using TileAccumulators = WgmmaAccumulators<kColumns>[kDown];

// Starts sum = A B (+ sum, if `add`) over one stage, as a group: kDown units of A from `a` on,
// 2 kSums columns of B from `b` on. The whole warpgroup must call it.
template <Layout kLayout, class A, class B, int kDown, int kSums>
__device__ void multiply_stage(float (&sum)[kDown][kSums], const std::byte* a, const std::byte* b,
                               bool add) {
  constexpr bool along_a = a_is_k_major(kLayout);
  constexpr bool along_b = b_is_k_major(kLayout);
  const std::uint64_t first_a = matrix_descriptor(shared_address(a));
  const std::uint64_t first_b = matrix_descriptor(shared_address(b));
#pragma unroll
  for (int i = 0; i < kDown; ++i) warpgroup_fence_operand(sum[i]);
  warpgroup_arrive();
#pragma unroll
  for (int step = 0; step < kUnitSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      wgmma_mma_async<A, B, 2 * kSums, !along_a, !along_b>(
          sum[i], first_a + unit_offset(i) + step_offset(along_a, step),
          first_b + step_offset(along_b, step), add || step > 0);
    }
  }
  warpgroup_commit_batch();
#pragma unroll
  for (int i = 0; i < kDown; ++i) warpgroup_fence_operand(sum[i]);
}

template <int kDown, int kSums>
__device__ void clear_sums(float (&sum)[kDown][kSums]) {
#pragma unroll
  for (int i = 0; i < kDown * kSums; ++i) sum[i / kSums][i % kSums] = 0;
}

// Adds what the tensor cores summed up, and are done with, in fp32: rounded, where they cut off.
template <int kSums>
__device__ void add_part(float (&sum)[kSums], float (&part)[kSums]) {
  warpgroup_fence_operand(part);
#pragma unroll
  for (int s = 0; s < kSums; ++s) sum[s] += part[s];
}

// Row of sum i of the calling thread within its warpgroup's 64, and column within the product's.
__device__ inline int accumulator_row(int i) {
  return accumulator_row(static_cast<int>(threadIdx.x) % kWarpgroup, i);
}
__device__ inline int accumulator_column(int i) {
  return accumulator_column(static_cast<int>(threadIdx.x) % kWarpgroup, i);
}

// Rounds and stores a warpgroup's sums, whose first is at C[row, column], straight from registers:
// four neighbouring threads fill a sector of fp32, half of one in 16 bits.
template <int kDown, int kSums, class A, class B, class Out>
__device__ void store_tile(const float (&sum)[kDown][kSums], const Product<A, B, Out>& product,
                           std::int64_t row, std::int64_t column, bool aligned) {
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int s = 0; s < kSums; s += 2) {
      const std::int64_t r = row + i * kWgmmaRows + accumulator_row(s);
      if (r >= product.m) continue;
      store_accumulators<2>(product.c, product.n, r, column + accumulator_column(s), &sum[i][s], Plain{},
                    aligned);
    }
  }
}

// Calls `make` with the layout as a constant. Throws Unsupported for what wgmma cannot read.
template <class A, class Make>
Launch with_wgmma_layout(Layout wanted, const Make& make) {
  require_hopper();
  return with_layout(wanted, [&](auto layout) -> Launch {
    if constexpr (sizeof(A) != 2 && layout != Layout::nt) {
      throw Unsupported("wgmma reads tf32 and fp8 along k only: layout nt");
    } else {
      return make(layout);
    }
  });
}

}  // namespace ridgebench::cuda
