// Shared memory of a block of wgmma_split_k: the stages of its part of k, and at the end its part
// of the sums, which the blocks of its cluster add.
#pragma once

#include <cstdint>

#include "kernels/matmul/hopper/mainloop.cuh"
#include "kernels/matmul/hopper/split_k.hpp"

namespace ridgebench::cuda::matmul_wgmma_split_k {

constexpr int kThreads = kWarpgroup + kWarp;  // the last warp loads
constexpr int kMaxCluster = kSplitKMostBlocks;
constexpr int kRingBytes = 96 << 10;  // two blocks of an SM have 96 or 128 KiB of B in flight

// Shared memory of a block for kBoxesB boxes of 64 columns of C, and kBoxesA of up to 64 rows.
template <int kBoxesB, int kBoxesA = 1>
struct Shared {
  static constexpr int kColumns = kBoxesB * kBoxRows;
  static constexpr int kPitch = split_k_pitch(kColumns);
  static constexpr int kOffsetA = kBoxesB * kBoxBytes;
  static constexpr int kStageBytes = kOffsetA + kBoxesA * kBoxBytes;
  static constexpr int kStages = kRingBytes / kStageBytes;
  static_assert(kRingBytes >= kBoxesA * kBoxRows * kPitch * static_cast<int>(sizeof(float)));

  std::byte stage[kStages][kStageBytes];  // at the end the block's accumulators
  TmaPipeline<kStages> pipeline;
};

// Writes a warpgroup's accumulators, C transposed, as rows of C.
template <int kBoxesB, int kRows>
__device__ void write_part(float* part, const Accumulators<kBoxesB, kRows>& d) {
  constexpr int count = kRows / 2;
#pragma unroll
  for (int i = 0; i < kBoxesB * count; ++i) {
    const int column = i / count * kWgmmaM + accumulator_row(i % count);
    part[accumulator_column(i % count) * Shared<kBoxesB>::kPitch + column] =
        d[i / count][i % count];
  }
}

// Adds the parts of all blocks of the cluster for this block's share of the columns, and stores.
template <int kBoxesB, class Out>
__device__ void store_share(const float* part, Out* c, int m, std::int64_t n, std::int64_t column,
                            bool aligned_c) {
  constexpr int vector = 4;
  const unsigned blocks = cluster_nctarank();
  const int share = Shared<kBoxesB>::kColumns / static_cast<int>(blocks);
  const int first = static_cast<int>(cluster_ctarank()) * share;
  for (int v = static_cast<int>(threadIdx.x); v < m * share / vector; v += kThreads) {
    const int row = v * vector / share;
    const int offset = first + v * vector % share;
    const auto* const own =
        reinterpret_cast<const float4*>(&part[row * Shared<kBoxesB>::kPitch + offset]);
    alignas(16) float x[kMaxCluster][vector];  // several reads are under way at a time
#pragma unroll
    for (unsigned r = 0; r < kMaxCluster; ++r) {
      reinterpret_cast<float4&>(x[r]) = r < blocks ? ld_shared_cluster(own, r) : float4{};
    }
    float sum[vector]{};
#pragma unroll
    for (int i = 0; i < kMaxCluster * vector; ++i) sum[i % vector] += x[i / vector][i % vector];
    store_results<vector>(c, n, row, column + offset, sum, aligned_c);
  }
}

}  // namespace ridgebench::cuda::matmul_wgmma_split_k
