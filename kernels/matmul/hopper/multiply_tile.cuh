// How a consumer of wgmma_persistent multiplies its part of a tile: by a loop over the stages of
// the ring, which leaves the sums in the tensor cores or promotes them to fp32.
#pragma once

#include <cstdint>

#include "kernels/matmul/hopper/persistent.cuh"

namespace ridgebench::cuda {

// Matrix descriptors of a consumer's boxes of A, and of B, in one stage.
template <class Tile>
struct StageDescriptors {
  std::uint64_t a, b;

  // Those of sub-tile `sub_tile` in stage `stage`; these are of the first.
  __device__ StageDescriptors at(int stage, int sub_tile) const {
    const std::uint64_t offset = static_cast<std::uint32_t>(stage) * (Tile::kStageBytes >> 4U);
    return {further(a, offset + box_offset(sub_tile)), further(b, offset)};
  }
};

template <class Tile>
__device__ StageDescriptors<Tile> first_stage(const typename Tile::Shared& shared) {
  // Not the caller's index, which is uniform: then the compiler would see through the shuffle.
  const int consumer = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  const std::uint32_t boxes = shared_address(shared.stage[0]);
  const int offset_a = consumer * Tile::kSubTiles * kBoxBytes;
  return {warp_uniform(matrix_descriptor(boxes + static_cast<std::uint32_t>(offset_a))),
          warp_uniform(matrix_descriptor(boxes + Tile::kOffsetB))};
}

// The products of one tile. The address of `shared` is warp_uniform. The wgmmas of the next stage
// are queued before those of a stage complete, so a stage is released once its successor's wgmmas
// have started.
template <Layout kLayout, class A, class B, class Tile>
__device__ void multiply_tile(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                              PipelineState<Tile::kStages>& state,
                              const BlockScheduler<Tile>& scheduler) {
  const auto first = first_stage<Tile>(shared);
  int before = 0;
  for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
    shared.pipeline.consumer_wait(state);
    const auto [a, b] = first.at(state.stage, 0);
    multiply_stage<kLayout, A, B>(d, a, b, i > 0);
    warpgroup_wait<1>();
    if (i > 0) shared.pipeline.consumer_release(before, scheduler.cluster);
    before = state.stage;
  }
  warpgroup_wait<0>();
  shared.pipeline.consumer_release(before, scheduler.cluster);
}

inline constexpr int kSecondConsumerStarts = 1 + kConsumers;  // a named barrier

// The same for fp8 with promotion: the tensor cores keep 13 fraction bits of a sum, so what they
// accumulate over 128 of k is added to accumulators in fp32. Registers suffice for the temporary
// sums of one sub-tile, so a consumer's products pause while it adds. Those of the other consumer
// fill the pause if the two are out of step: in each tile the second one waits until the first
// products of the first one are complete. The first one is never a whole tile ahead, which would
// complete the barrier without the second one, as the ring holds no more than the stages of a tile.
template <Layout kLayout, class A, class B, class Tile>
__device__ void multiply_tile_promoted(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                                       PipelineState<Tile::kStages>& state,
                                       const BlockScheduler<Tile>& scheduler) {
  const auto first = first_stage<Tile>(shared);
  const bool ordered = scheduler.stages >= Tile::kStages;
  const bool leads = warpgroup_index() == 1;
  if (ordered && !leads) named_barrier_sync<kConsumers * kWarpgroup>(kSecondConsumerStarts);
  clear(d);
  for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
    shared.pipeline.consumer_wait(state);
#pragma unroll
    for (int s = 0; s < Tile::kSubTiles; ++s) {
      Accumulators<1, Tile::kBlockN> part;
      const auto [a, b] = first.at(state.stage, s);
      multiply_stage<kLayout, A, B>(part, a, b, false);
      warpgroup_wait<0>();
      if (s == 0 && i == 0 && ordered && leads) {
        named_barrier_arrive<kConsumers * kWarpgroup>(kSecondConsumerStarts);
      }
      if (s == Tile::kSubTiles - 1) {
        shared.pipeline.consumer_release(state.stage, scheduler.cluster);
      }
      promote(d[s], part[0]);
    }
  }
}

// Whether registers suffice for the sums of a tile and two sets of temporary ones.
template <class Tile>
inline constexpr bool kTwoTemporaries = Tile::kSubTiles == 1 && Tile::kBlockN <= 128;

// The same with two sets of temporary sums in turn: a consumer adds those of one stage while the
// tensor cores work on the next, so they never pause.
template <Layout kLayout, class A, class B, class Tile>
  requires kTwoTemporaries<Tile>
__device__ void multiply_tile_promoted(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                                       PipelineState<Tile::kStages>& state,
                                       const BlockScheduler<Tile>& scheduler) {
  const auto first = first_stage<Tile>(shared);
  Accumulators<1, Tile::kBlockN> even;
  Accumulators<1, Tile::kBlockN> odd;
  auto oldest = state;  // of the stages in flight
  const auto start = [&](auto& part) {
    shared.pipeline.consumer_wait(state);
    const auto [a, b] = first.at(state.stage, 0);
    multiply_stage<kLayout, A, B>(part, a, b, false);
    state.advance();
  };
  const auto finish = [&](auto& part) {
    shared.pipeline.consumer_release(oldest.stage, scheduler.cluster);
    promote(d[0], part[0]);
    oldest.advance();
  };
  clear(d);
  start(even);
  int i = 1;
  for (; i + 1 < scheduler.stages; i += 2) {
    start(odd);
    warpgroup_wait<1>();
    finish(even);
    start(even);
    warpgroup_wait<1>();
    finish(odd);
  }
  if (i < scheduler.stages) {
    start(odd);
    warpgroup_wait<1>();
    finish(even);
    warpgroup_wait<0>();
    finish(odd);
  } else {
    warpgroup_wait<0>();
    finish(even);
  }
}

}  // namespace ridgebench::cuda
