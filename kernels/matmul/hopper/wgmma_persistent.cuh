// A persistent grid with clusters. Over wgmma_tma: the first loads of a tile run while the tile
// before it is stored; the two blocks of a cluster each load half of the larger operand for both
// (multicast), which saves a third of the traffic from L2; tiles follow an order that keeps L2 warm
// (tile_scheduler.hpp); results leave through shared memory by TMA. The limit is the tensor cores'
// rate, or the power that they draw.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/matmul/hopper/persistent.cuh"
#include "kernels/matmul/hopper/store_tile.cuh"
#include "kernels/matmul/tile/tuning.hpp"

namespace ridgebench::cuda {

// The products of one tile. The wgmmas of the next stage are queued before those of a stage
// complete, so a stage is released once its successor's wgmmas have started.
template <Layout kLayout, class A, class B, class Tile>
__device__ void multiply_tile(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                              int consumer, PipelineState<Tile::kStages>& state,
                              const BlockScheduler<Tile>& scheduler) {
  int before = 0;
  for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
    const std::byte* const boxes = shared.stage[state.stage];
    shared.pipeline.consumer_wait(state);
    multiply_stage<kLayout, A, B>(d, boxes + consumer * Tile::kSubTiles * kBoxBytes,
                                  boxes + Tile::kOffsetB, i > 0);
    warpgroup_wait<1>();
    if (i > 0) shared.pipeline.consumer_release(before, scheduler.cluster);
    before = state.stage;
  }
  warpgroup_wait<0>();
  shared.pipeline.consumer_release(before, scheduler.cluster);
}

// The same for fp8 with promotion: the tensor cores keep 13 fraction bits of a sum, so what they
// accumulate over 128 of k is added to accumulators in fp32.
template <Layout kLayout, class A, class B, class Tile>
__device__ void multiply_tile_promoted(TileAccumulators<Tile>& d, typename Tile::Shared& shared,
                                       int consumer, PipelineState<Tile::kStages>& state,
                                       const BlockScheduler<Tile>& scheduler) {
  clear(d);
  for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
    const std::byte* const boxes = shared.stage[state.stage];
    shared.pipeline.consumer_wait(state);
#pragma unroll
    for (int s = 0; s < Tile::kSubTiles; ++s) {
      Accumulators<1, Tile::kBlockN> part;
      multiply_stage<kLayout, A, B>(part, boxes + (consumer * Tile::kSubTiles + s) * kBoxBytes,
                                    boxes + Tile::kOffsetB, false);
      warpgroup_wait<0>();
      if (s == Tile::kSubTiles - 1) {
        shared.pipeline.consumer_release(state.stage, scheduler.cluster);
      }
      promote(d[s], part[0]);
    }
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
  start_cluster(shared, scheduler);

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) produce<kLayout, A>(shared, a, b, scheduler);
  } else {
    warpgroup_reg_alloc<232>();
    const int consumer = warpgroup_index() - 1;
    PipelineState<Tile::kStages> state;
    TileAccumulators<Tile> d;
    int turn = 0;
    for (int tile = scheduler.first; tile < tiles.count(); tile += scheduler.step) {
      if constexpr (kPromoted) {
        multiply_tile_promoted<kLayout, A, B>(d, shared, consumer, state, scheduler);
      } else {
        multiply_tile<kLayout, A, B>(d, shared, consumer, state, scheduler);
      }
      const auto [row, column] = scheduler.origin(tile);
      store_tile<Tile, Out>(d, shared.store[consumer], c,
                            row + consumer * Tile::kSubTiles * kWgmmaM, column, n, consumer, turn,
                            epilogue);
    }
    if (threadIdx.x % kWarpgroup == 0) cp_async_bulk_wait_group();
  }
  __syncwarp();
  cluster_sync_relaxed();  // a block must not exit while another may arrive at its barriers
}

// Binds a persistent kernel of these parameters.
template <class Tile, class Kernel, class A, class B, class Out, class Epilogue>
Launch bind_kernel(Kernel kernel, const Queue& queue, const Product<A, B, Out>& product,
                   int cluster, const Epilogue& epilogue) {
  const TileScheduler tiles = schedule_tiles(Tile::kShape, cluster, product.m, product.n);
  const ClusterGrid grid = persistent_grid<Tile>(kernel, queue, tiles, cluster);
  return [=, a = operand_map(product.a), b = operand_map(product.b),
          c = tensor_map(product.c, product.m, product.n, kBoxRows,
                         kRowBytes / static_cast<int>(sizeof(Out)), Swizzle::bytes_128),
          stages = static_cast<int>(ceil_div(product.k, kBlockK<A>)),
          n = static_cast<int>(product.n)] {
    launch(kernel, grid, a, b, c, tiles, stages, n, epilogue);
  };
}

// Binds matmul_wgmma_persistent for one tile.
template <Layout kLayout, class Tile, bool kPromoted, class A, class B, class Out, class Epilogue>
Launch bind_tile(const Queue& queue, const Product<A, B, Out>& product, int cluster,
                 const Epilogue& epilogue) {
  constexpr auto kernel = matmul_wgmma_persistent<kLayout, Tile, kPromoted, A, B, Out, Epilogue>;
  return bind_kernel<Tile>(kernel, queue, product, cluster, epilogue);
}

// The tiles that the kernel is compiled for, with one way of accumulating.
template <bool kPromoted, class... Tiles>
struct TileList {
  static constexpr std::array<TileShape, sizeof...(Tiles)> kShapes{Tiles::kShape...};

  template <Layout kLayout, class A, class B, class Out, class Epilogue>
  static Launch bind(const Queue& queue, const Product<A, B, Out>& product, TileChoice choice,
                     const Epilogue& epilogue) {
    using Bind = Launch (*)(const Queue&, const Product<A, B, Out>&, int, const Epilogue&);
    constexpr std::array<Bind, sizeof...(Tiles)> binds{
        bind_tile<kLayout, Tiles, kPromoted, A, B, Out, Epilogue>...};
    return binds[choice.tile](queue, product, choice.cluster, epilogue);
  }
};

using FastTiles =
    TileList<false, PersistentTile<128, 256>, PersistentTile<128, 128>, PersistentTile<128, 64>>;
// 256 x 128: two sets of accumulators of 128 columns, and a third set that is promoted.
using PromotedTiles =
    TileList<true, PersistentTile<256, 128>, PersistentTile<128, 128>, PersistentTile<128, 64>>;

// Technique::supports of the persistent kernels, which also store by TMA.
inline std::optional<std::string> supports_persistent(const Machine& machine, const Shape& shape,
                                                      FormatPair formats) {
  if (auto reason = supports_wgmma_tma(machine, shape, formats)) return reason;
  return supports_tma_row(shape["n"], product_format(formats));
}

// What prepare chose; the record says it.
struct ChosenTile : TileChoice {
  TileShape shape;

  [[nodiscard]] std::string choice() const {
    return "tile " + std::to_string(shape.m) + "x" + std::to_string(shape.n) + ", cluster " +
           std::to_string(cluster) + ", raster of " + std::to_string(kGroupRows) + " rows";
  }
};

template <class List>
ChosenTile chosen(const TileChoice& choice) {
  return {choice, List::kShapes[choice.tile]};
}

template <class List, class A, class B, class Out>
Launch bind_plain(Queue& queue, const ChosenTile& choice, const Shape& shape, const A* a,
                  const B* b, Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    return List::template bind<layout>(queue, Product(shape, a, b, c), choice, Plain{});
  });
}

template <class List, class A, class B, class Out>
Launch bind_gelu(Queue& queue, const ChosenTile& choice, const Shape& shape, const A* a, const B* b,
                 const Out* bias, Out* c) {
  return List::template bind<Layout::nt>(queue, Product(shape, a, b, c), choice,
                                         BiasGelu<Out>{bias});
}

// Chooses by arithmetic.
template <class List>
ChosenTile prepare_choice(Queue& /*queue*/, const Shape& shape) {
  return chosen<List>(choose_tile(List::kShapes, shape["m"], shape["n"], sm_count()));
}

// Chooses by measuring all tiles and clusters.
template <class List, bool kGelu, class A, class B, class Out>
ChosenTile prepare_tuned(Queue& queue, const Shape& shape) {
  const auto choice = [](int i) {
    const auto index = static_cast<std::size_t>(i);
    return chosen<List>(
        {.tile = index / kClusters.size(), .cluster = kClusters[index % kClusters.size()]});
  };
  constexpr int candidates = static_cast<int>(List::kShapes.size() * kClusters.size());
  return choice(fastest<A, B, Out>(
      queue, shape, candidates, [&](int i, const A* a, const B* b, const Out* bias, Out* c) {
        if constexpr (kGelu) {
          return bind_gelu<List>(queue, choice(i), shape, a, b, bias, c);
        } else {
          return bind_plain<List>(queue, choice(i), shape, a, b, c);
        }
      }));
}

}  // namespace ridgebench::cuda
