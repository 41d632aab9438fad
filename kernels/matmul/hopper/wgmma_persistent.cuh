// A persistent grid with clusters. Over wgmma_tma: the first loads of a tile run while the tile
// before it is stored; the blocks of a cluster each load a part of the larger operand for all
// (multicast), and two blocks save a third of the traffic from L2, four blocks half; tiles follow
// an order that keeps L2 warm (tile_scheduler.hpp); results leave through shared memory by TMA. The
// limit is the tensor cores' rate, or the power that they draw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/matmul/hopper/store_tile.cuh"
#include "kernels/matmul/hopper/tile_choice.cuh"

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
  const int offset_a = consumer * Tile::kConsumerBoxes * kBoxBytes;
  return {warp_uniform(matrix_descriptor(boxes + static_cast<std::uint32_t>(offset_a))),
          warp_uniform(matrix_descriptor(boxes + Tile::kOffsetB))};
}

// Starts the products of one tile. The address of `shared` is warp_uniform. The wgmmas of the next
// stage are queued before those of a stage complete, so a stage is released once its successor's
// wgmmas have started. Those of the last stage, which the function returns, are in flight.
template <Layout kLayout, class A, class B, class Tile>
__device__ int start_tile(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
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
  return before;
}

// Waits for the products of the last stage.
template <class Tile>
__device__ void finish_tile(typename Tile::Shared& shared, int last,
                            const BlockScheduler<Tile>& scheduler) {
  warpgroup_wait<0>();
  shared.pipeline.consumer_release(last, scheduler.cluster);
}

// How a consumer adds the temporary sums of a stage: as they are. Block scales have another way
// (block_scales.cuh).
template <class Tile, class Epilogue>
struct StagePromotion {
  __device__ explicit StagePromotion(const Epilogue& /*epilogue*/) {}
  // `row` of C is the consumer's first, `column` the tile's.
  __device__ void start_tile(int /*row*/, int /*column*/, int /*n*/, int /*stages*/) {}
  template <int kCount>
  __device__ void add(float (&d)[kCount], float (&part)[kCount], int /*sub_tile*/) const {
    promote(d, part);
  }
  __device__ void advance() {}  // to the next stage
};

inline constexpr int kSecondConsumerStarts = 1 + kConsumers;  // a named barrier

// A tile of fp8, promoted: the tensor cores keep 13 fraction bits of a sum, so what they
// accumulate over 128 of k is added to accumulators in fp32. Registers suffice for the temporary
// sums of one sub-tile, so a consumer's products pause while it adds. Those of the other consumer
// fill the pause if the two are out of step: in each tile the second one waits until the first
// products of the first one are complete. The first one is never a whole tile ahead, which would
// complete the barrier without the second one, as the ring holds no more than the stages of a tile.
template <Layout kLayout, class A, class B, class Tile, class Promotion>
__device__ void multiply_tile_promoted(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                                       PipelineState<Tile::kStages>& state,
                                       const BlockScheduler<Tile>& scheduler,
                                       Promotion& promotion) {
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
      promotion.add(d[s], part[0], s);
    }
    promotion.advance();
  }
}

// The same with two sets of temporary sums in turn: a consumer adds those of one stage while the
// tensor cores work on the next, so they never pause.
template <Layout kLayout, class A, class B, class Tile, class Promotion>
  requires(has_two_temporaries(Tile::kShape))
__device__ void multiply_tile_promoted(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                                       PipelineState<Tile::kStages>& state,
                                       const BlockScheduler<Tile>& scheduler,
                                       Promotion& promotion) {
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
    promotion.add(d[0], part[0], 0);
    promotion.advance();
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

template <Layout kLayout, class Tile, bool kPromoted, class A, class B, class Out, class Epilogue>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_persistent(const __grid_constant__ TensorMap a,
                            const __grid_constant__ TensorMap b,
                            const __grid_constant__ TensorMap c, TileScheduler tiles, int stages,
                            int n, Epilogue epilogue) {
  alignas(kAtomBytes) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<typename Tile::Shared*>(memory);
  const BlockScheduler<Tile> scheduler(tiles, stages);
  start_cluster(shared, scheduler, a, b);

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) produce<kLayout, A>(shared, a, b, scheduler);
  } else {
    warpgroup_reg_alloc<232>();
    griddepcontrol_wait();
    const int consumer = warpgroup_index() - 1;
    auto& ring = *warp_uniform(&shared);
    PipelineState<Tile::kStages> state;
    const TileEpilogue<Tile, Epilogue> tile_epilogue(epilogue, shared.biases[consumer]);
    StagePromotion<Tile, Epilogue> promotion(epilogue);
    TileAccumulators<Tile> d;
    int turn = 0;
    for (int tile = scheduler.first; tile < tiles.count(); tile += scheduler.step) {
      const auto [row, column] = scheduler.origin(tile);
      tile_epilogue.load(column, n);
      if constexpr (kPromoted) {
        promotion.start_tile(row + consumer * Tile::kSubTiles * kWgmmaM, column, n, stages);
        multiply_tile_promoted<kLayout, A, B>(d, ring, state, scheduler, promotion);
      } else {
        const int last = start_tile<kLayout, A, B>(d, ring, state, scheduler);
        finish_tile(ring, last, scheduler);
      }
      tile_epilogue.wait();
      store_tile<Tile, Out>(d, shared.store[consumer], c,
                            row + consumer * Tile::kSubTiles * kWgmmaM, column, consumer, turn,
                            tile_epilogue);
    }
    if (threadIdx.x % kWarpgroup == 0) cp_async_bulk_wait_group();
  }
}

// The tiles that the kernel is compiled for, with one way of accumulating.
template <bool kPromoted, const auto& kTiles>
struct TileList {
  static constexpr auto& kShapes = kTiles;
  static constexpr bool kPromotes = kPromoted;
  static constexpr bool kHidesEpilogue = false;

  template <Layout kLayout, std::size_t kTile, class A, class B, class Out, class Epilogue>
  static Launch bind_tile(const Queue& queue, const Product<A, B, Out>& product,
                          const TileChoice& choice, const Epilogue& epilogue) {
    using Tile = PersistentTile<kTiles[kTile].m, kTiles[kTile].n>;
    constexpr auto kernel = matmul_wgmma_persistent<kLayout, Tile, kPromoted, A, B, Out, Epilogue>;
    return bind_kernel<Tile>(kernel, queue, product, choice, epilogue);
  }
};

using FastTiles = TileList<false, kFastTiles>;
using PromotedTiles = TileList<true, kPromotedTiles>;

// One technique, which takes the tile that arithmetic suggests, and its tuned twin, which takes the
// fastest.
template <class List, bool kGelu, class... Products>
std::array<Registration, 2> persistent_registrations(const Technique& technique,
                                                     std::string_view tuned_name,
                                                     Types<Products...> types,
                                                     const char* source = __builtin_FILE()) {
  Technique tuned = technique;
  tuned.name = tuned_name;
  const auto bind_for = []<class P>() {
    using A = typename P::A;
    using B = typename P::B;
    using Out = typename P::Out;
    if constexpr (kGelu) {
      return bind_gelu<List, A, B, Out>;
    } else {
      return bind_plain<List, A, B, Out>;
    }
  };
  return {Registration(
              technique, types,
              [=]<class P>() {
                return planned(
                    prepare_choice<List, kGelu, typename P::A, typename P::B, typename P::Out>,
                    bind_for.template operator()<P>(), all_choices<List>);
              },
              source),
          Registration(
              tuned, types,
              [=]<class P>() {
                return planned(
                    prepare_tuned<List, kGelu, typename P::A, typename P::B, typename P::Out>,
                    bind_for.template operator()<P>(), all_choices<List>);
              },
              source)};
}

inline Technique persistent_technique(const std::string& operation, const std::string& name,
                                      double accumulation_error, double approximation_error) {
  return {.operation = operation,
          .name = name,
          .engine = Engine::tensor,
          .supports = supports_persistent,
          .accumulator_bits = accumulation_error == kFp8SumError ? kFp8SumBits : 0,
          .accumulation_error = accumulation_error,
          .approximation_error = approximation_error};
}

}  // namespace ridgebench::cuda
