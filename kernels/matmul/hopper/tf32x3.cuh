// fp32 products on tensor cores in tf32. An element is split into a high part that tf32 holds and a
// low part, and a product becomes low x high + high x low + high x high. A is split in registers,
// from where wgmma reads it. B is split by warps of the producer warpgroup, from shared memory to
// shared memory; the hardware reads B's high part by itself, because it ignores the last 13 bits.
#pragma once

#include <cstdint>

#include "kernels/matmul/hopper/persistent.cuh"

namespace ridgebench::cuda::matmul_wgmma_tf32x3 {

struct Tile : BlockTile<256, 128> {
  static constexpr TileShape kShape{kBlockM, kBlockN};
  static constexpr bool kSharesB = kShape.shares_b();
  static constexpr int kReleasingWarps = kConsumerWarps;
  static constexpr int kLowBytes = kStageBytes - kOffsetB;  // the low part of B
  static constexpr int kStages = 3;

  struct Shared {
    std::byte stage[kStages][kStageBytes];
    std::byte low_b[kStages][kLowBytes];
    TmaPipeline<kStages> pipeline;
    Barrier split[kStages];       // a phase completes when the low part of B is there
    Barrier lead;                 // its phase completes when the first consumer is a box ahead
    bool non_finite[kConsumers];  // whether a sum is not finite; the producer's barriers publish it
  };
};
constexpr int kSplitters = kWarpgroup - kWarp;  // threads; the first warp of their warpgroup loads

// The first 11 significant bits of x.
__device__ inline float high_part(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000U);
}
// The rest of x, exactly. NaN if x is infinite or NaN, so that no such product goes unseen.
__device__ inline float low_part(float x) { return x - high_part(x); }

// The splitter threads: the low parts of B in the next `stages` stages.
__device__ inline void split_b(Tile::Shared& shared, int thread,
                               PipelineState<Tile::kStages>& state, int stages) {
  for (int i = 0; i < stages; ++i, state.advance()) {
    shared.pipeline.consumer_wait(state);
    const auto* const whole =
        reinterpret_cast<const float4*>(shared.stage[state.stage] + Tile::kOffsetB);
    auto* const low = reinterpret_cast<float4*>(shared.low_b[state.stage]);
#pragma unroll 4
    for (int v = thread; v < Tile::kLowBytes / kVectorBytes; v += kSplitters) {
      const float4 x = whole[v];
      low[v] = make_float4(low_part(x.x), low_part(x.y), low_part(x.z), low_part(x.w));
    }
    fence_proxy_async();
    mbarrier_arrive(shared.split[state.stage]);
  }
}

// Both parts of A for one wgmma.
struct SplitFragment {
  WgmmaFragmentA high, low;
};

// The row of A in a box whose address this lane gives to ldmatrix, at the first k-step.
__device__ inline std::uint32_t fragment_row(const std::byte* box) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  return shared_address(
      box + swizzle_128b(thread / kWarp * 16 + thread % 16, thread % kWarp / 16 * kVectorBytes));
}

// Reads the calling warp's part of k-step number `step`. The box is aligned to an atom, so the
// swizzle of a later step differs only in the bits of the step.
__device__ inline void load_fragment(SplitFragment& fragment, std::uint32_t row, int step) {
  std::uint32_t word[4];
  ldmatrix_x4(word, row ^ static_cast<std::uint32_t>(step * kWgmmaKBytes));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float x = __uint_as_float(word[i]);
    fragment.high[i] = __float_as_uint(high_part(x));
    fragment.low[i] = __float_as_uint(low_part(x));
  }
}

using Part = WgmmaAccumulators<Tile::kBlockN>;

// Starts part = A B over one stage for a box of A. The small products come first, because tensor
// cores truncate each sum. A fragment is loaded while the wgmmas of the one before it run.
__device__ inline void multiply_box(Part& part, SplitFragment (&fragment)[2], const std::byte* a,
                                    const std::byte* b, const std::byte* low_b) {
  const std::uint32_t row = fragment_row(a);
  const std::uint64_t whole_a = matrix_descriptor(shared_address(a));
  const std::uint64_t whole_b = matrix_descriptor(shared_address(b));
  const std::uint64_t low = matrix_descriptor(shared_address(low_b));
  warpgroup_fence_operand(part);
#pragma unroll
  for (int step = 0; step < kWgmmasPerBlockK; ++step) {
    SplitFragment& own = fragment[step % 2];
    if (step >= 2) warpgroup_wait<1>();  // wgmma no longer reads the fragment
    load_fragment(own, row, step);
    warpgroup_fence_operand(own.high);
    warpgroup_fence_operand(own.low);
    warpgroup_arrive();
    const std::uint64_t offset = k_step_offset(true, step);
    wgmma_mma_async_rs<Tf32, Tile::kBlockN>(part, own.low, whole_b + offset, step > 0);
    wgmma_mma_async_rs<Tf32, Tile::kBlockN>(part, own.high, low + offset, true);
    warpgroup_commit_batch();
  }
  warpgroup_arrive();
#pragma unroll
  for (int step = 0; step < kWgmmasPerBlockK; ++step) {
    const std::uint64_t offset = k_step_offset(true, step);
    wgmma_mma_async<Tf32, Tf32, Tile::kBlockN>(part, whole_a + offset, whole_b + offset, true);
  }
  warpgroup_commit_batch();
  warpgroup_fence_operand(part);
}

}  // namespace ridgebench::cuda::matmul_wgmma_tf32x3
