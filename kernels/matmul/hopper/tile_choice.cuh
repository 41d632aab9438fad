// How persistent products are bound, and how prepare chooses a tile from the list of a technique:
// by arithmetic, or by measuring all of them. A list has kShapes, kPromotes, kHidesEpilogue and
// bind().
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/matmul/hopper/persistent.cuh"
#include "kernels/matmul/tile/tuning.hpp"

namespace ridgebench::cuda {

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

// The choice of prepare, for the record.
struct ChosenTile : TileChoice {
  TileShape shape;

  [[nodiscard]] std::string choice() const {
    return "tile " + std::to_string(shape.m) + "x" + std::to_string(shape.n) + ", cluster " +
           std::to_string(cluster) + ", raster of " + std::to_string(kGroupRows) + " rows";
  }
  [[nodiscard]] std::string name() const {
    return "tile=" + std::to_string(shape.m) + "x" + std::to_string(shape.n) +
           ",cluster=" + std::to_string(cluster);
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
  require_aligned(bias);
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
  const ProductWork work{
      .m = shape["m"],
      .n = shape["n"],
      .stages = ceil_div(shape["k"], kBlockK<A>),
      .epilogue_clocks = List::kHidesEpilogue ? 0 : epilogue_clocks(sizeof(Out), kGelu),
      .promotion_clocks = List::kPromotes ? kPromotionClocks : 0};
  return chosen<List>(choose_tile(List::kShapes, work, active_clusters()));
}

// All tiles of the list, each in all clusters.
template <class List>
std::vector<ChosenTile> all_choices() {
  std::vector<ChosenTile> choices;
  for (std::size_t tile = 0; tile < List::kShapes.size(); ++tile) {
    for (const int cluster : kClusters) choices.push_back(chosen<List>({tile, cluster}));
  }
  return choices;
}

// Chooses by measuring all tiles and clusters.
template <class List, bool kGelu, class A, class B, class Out>
ChosenTile prepare_tuned(Queue& queue, const Shape& shape) {
  const std::vector<ChosenTile> choices = all_choices<List>();
  const auto choice = [&](int i) { return choices[static_cast<std::size_t>(i)]; };
  return choice(fastest<A, B, Out>(queue, shape, static_cast<int>(choices.size()),
                                   [&](int i, const A* a, const B* b, const Out* bias, Out* c) {
                                     if constexpr (kGelu) {
                                       return bind_gelu<List>(queue, choice(i), shape, a, b, bias,
                                                              c);
                                     } else {
                                       return bind_plain<List>(queue, choice(i), shape, a, b, c);
                                     }
                                   }));
}

}  // namespace ridgebench::cuda
