// A persistent grid with clusters. Over wgmma_tma: the first loads of a tile run while the tile
// before it is stored; the blocks of a cluster each load a part of the larger operand for all
// (multicast), and two blocks save a third of the traffic from L2, four blocks half; tiles follow
// an order that keeps L2 warm (tile_scheduler.hpp); results leave through shared memory by TMA. The
// limit is the tensor cores' rate, or the power that they draw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "kernels/matmul/hopper/multiply_tile.cuh"
#include "kernels/matmul/hopper/persistent.cuh"
#include "kernels/matmul/hopper/store_tile.cuh"
#include "kernels/matmul/tile/tuning.hpp"

namespace ridgebench::cuda {

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
    TileAccumulators<Tile> d;
    int turn = 0;
    for (int tile = scheduler.first; tile < tiles.count(); tile += scheduler.step) {
      const auto [row, column] = scheduler.origin(tile);
      tile_epilogue.load(column, n);
      if constexpr (kPromoted) {
        multiply_tile_promoted<kLayout, A, B>(d, ring, state, scheduler);
      } else {
        multiply_tile<kLayout, A, B>(d, ring, state, scheduler);
      }
      tile_epilogue.wait();
      store_tile<Tile, Out>(d, shared.store[consumer], c,
                            row + consumer * Tile::kSubTiles * kWgmmaM, column, consumer, turn,
                            tile_epilogue);
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
template <bool kPromoted, const auto& kTiles>
struct TileList {
  static constexpr auto& kShapes = kTiles;
  static constexpr bool kPromotes = kPromoted;

  template <Layout kLayout, class A, class B, class Out, class Epilogue>
  static Launch bind(const Queue& queue, const Product<A, B, Out>& product, TileChoice choice,
                     const Epilogue& epilogue) {
    using Bind = Launch (*)(const Queue&, const Product<A, B, Out>&, int, const Epilogue&);
    const auto bind_of = []<std::size_t... i>(std::size_t tile, std::index_sequence<i...>) {
      constexpr std::array<Bind, sizeof...(i)> binds{
          bind_tile<kLayout, PersistentTile<kTiles[i].m, kTiles[i].n>, kPromoted, A, B, Out,
                    Epilogue>...};
      return binds[tile];
    };
    return bind_of(choice.tile, std::make_index_sequence<kTiles.size()>())(
        queue, product, choice.cluster, epilogue);
  }
};

using FastTiles = TileList<false, kFastTiles>;
using PromotedTiles = TileList<true, kPromotedTiles>;

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

// Occupies as much of an SM as a persistent kernel.
template <int kThreads>
__global__ void __launch_bounds__(kThreads, 1) fill_sms() {}

// Asks the device: a cluster stays within one group of its SMs, and groups differ in size.
inline ActiveClusters active_clusters() {
  constexpr auto kernel = fill_sms<kWarpSpecialisedThreads>;
  set_max_dynamic_shared_bytes(kernel, kMaxSharedBytes);
  ActiveClusters active{};
  for (std::size_t i = 0; i < kClusters.size(); ++i) {
    const auto blocks = static_cast<unsigned>(kClusters[i]);
    const ClusterGrid grid{.blocks = dim3(blocks),
                           .threads = kWarpSpecialisedThreads,
                           .shared_bytes = kMaxSharedBytes,
                           .stream = nullptr,
                           .cluster = blocks};
    with_launch_config(grid, [&](const cudaLaunchConfig_t& config) {
      check(cudaOccupancyMaxActiveClusters(&active[i], kernel, &config));
    });
  }
  return active;
}

// Chooses by arithmetic.
template <class List, bool kGelu, class A, class B, class Out>
ChosenTile prepare_choice(Queue& /*queue*/, const Shape& shape) {
  const ProductWork work{.m = shape["m"],
                         .n = shape["n"],
                         .stages = ceil_div(shape["k"], kBlockK<A>),
                         .epilogue_clocks = epilogue_clocks(sizeof(Out), kGelu),
                         .promotion_clocks = List::kPromotes ? kPromotionClocks : 0};
  return chosen<List>(choose_tile(List::kShapes, work, active_clusters()));
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
