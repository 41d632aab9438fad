// How persistent products are bound, and how prepare chooses a tile from the list of a technique:
// by arithmetic, or by measuring all of them. A list has kShapes, kPromotes, kHidesEpilogue and
// bind_tile<layout, tile>(), which binds the kernel of a tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/matmul/hopper/persistent.cuh"
#include "kernels/matmul/hopper/tile_scheduler.hpp"
#include "kernels/matmul/tile/tuning.hpp"

namespace ridgebench::cuda {

// Binds a persistent kernel of these parameters.
template <class Tile, class Kernel, class A, class B, class Out, class Epilogue>
Launch bind_kernel(Kernel kernel, const Queue& queue, const Product<A, B, Out>& product,
                   const TileChoice& choice, const Epilogue& epilogue) {
  const TileScheduler tiles =
      schedule_tiles(Tile::kShape, choice.cluster, product.m, product.n, choice.group_rows);
  const ClusterGrid grid = persistent_grid<Tile>(kernel, queue, tiles, choice.cluster);
  return [=, a = operand_map(product.a), b = operand_map(product.b, Tile::kBoxColumns),
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
           std::to_string(cluster) + ", raster of " + std::to_string(group_rows) + " rows";
  }
  [[nodiscard]] std::string name() const {
    return "tile=" + std::to_string(shape.m) + "x" + std::to_string(shape.n) +
           ",cluster=" + std::to_string(cluster) +
           (group_rows == kGroupRows ? "" : ",raster=" + std::to_string(group_rows));
  }
  [[nodiscard]] ModelTraffic traffic(const Machine& machine, const Shape& s,
                                     FormatPair formats) const {
    const std::int64_t m = s["m"];
    const std::int64_t n = s["n"];
    const ProductWork work{
        .m = m,
        .n = n,
        .stages = ceil_div(s["k"] * info(formats.a).storage_bytes, kStageRowBytes),
        .epilogue_clocks = 0};
    return {.l2_to_sm_bytes = product_bytes_from_l2(shape, cluster, work),
            .dram_bytes = product_bytes_of_memory(
                schedule_tiles(shape, cluster, m, n, group_rows), bytes_of_matrices(s, formats),
                static_cast<double>(machine.last_level_cache_bytes()))};
  }
};

template <class List>
ChosenTile chosen(const TileChoice& choice) {
  return {choice, List::kShapes[choice.tile]};
}

// The formats for which a list is compiled in all its widths.
template <class A, class B>
inline constexpr bool kCommonFormats = std::is_same_v<A, B> && !std::is_same_v<A, Fp8E5m2>;

// Binds the kernel of the chosen tile. Throws Unsupported if it is not compiled, which only a
// choice that a user named can be.
template <class List, Layout kLayout, class A, class B, class Out, class Epilogue>
Launch bind_choice(const Queue& queue, const Product<A, B, Out>& product, const TileChoice& choice,
                   const Epilogue& epilogue) {
  Launch launch;
  const auto bind_if_chosen = [&]<std::size_t kTile>(std::integral_constant<std::size_t, kTile>) {
    if constexpr (is_compiled(List::kShapes[kTile], b_is_k_major(kLayout), kCommonFormats<A, B>)) {
      if (choice.tile == kTile) {
        launch = List::template bind_tile<kLayout, kTile>(queue, product, choice, epilogue);
      }
    }
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (bind_if_chosen(std::integral_constant<std::size_t, i>()), ...);
  }(std::make_index_sequence<List::kShapes.size()>());
  if (!launch) {
    throw Unsupported("a tile of " + std::to_string(List::kShapes[choice.tile].n) +
                      " columns is compiled for layout nt in tf32, fp16, bf16 and fp8_e4m3 only");
  }
  return launch;
}

template <class List, class A, class B, class Out>
Launch bind_plain(Queue& queue, const ChosenTile& choice, const Shape& shape, const A* a,
                  const B* b, Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    return bind_choice<List, layout>(queue, Product(shape, a, b, c), choice, Plain{});
  });
}

template <class List, class A, class B, class Out>
Launch bind_gelu(Queue& queue, const ChosenTile& choice, const Shape& shape, const A* a, const B* b,
                 const Out* bias, Out* c) {
  require_aligned(bias);
  return bind_choice<List, Layout::nt>(queue, Product(shape, a, b, c), choice, BiasGelu<Out>{bias});
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

// Numbers of the tiles of a list that are compiled for a layout and two formats.
template <class List, class A, class B>
std::vector<std::size_t> compiled_tiles(Layout layout) {
  std::vector<std::size_t> tiles;
  for (std::size_t tile = 0; tile < List::kShapes.size(); ++tile) {
    if (is_compiled(List::kShapes[tile], b_is_k_major(layout), kCommonFormats<A, B>)) {
      tiles.push_back(tile);
    }
  }
  return tiles;
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
  const std::vector<std::size_t> tiles = compiled_tiles<List, A, B>(shape.layout());
  std::vector<TileShape> shapes;
  for (const std::size_t tile : tiles) shapes.push_back(List::kShapes[tile]);
  TileChoice choice = choose_tile(shapes, work, active_clusters());
  choice.tile = tiles[choice.tile];
  return chosen<List>(choice);
}

// Adds the choices of one tile: all clusters, and clusters of two in other rasters.
template <class List>
void add_choices(std::vector<ChosenTile>& choices, std::size_t tile) {
  for (const int cluster : kClusters) choices.push_back(chosen<List>({tile, cluster}));
  for (const int rows : kOtherGroupRows) choices.push_back(chosen<List>({tile, 2, rows}));
}

// The choices of all tiles of the list, of which a user names one.
template <class List>
std::vector<ChosenTile> all_choices() {
  std::vector<ChosenTile> choices;
  for (std::size_t tile = 0; tile < List::kShapes.size(); ++tile) add_choices<List>(choices, tile);
  return choices;
}

// Chooses by measuring all tiles that are compiled, each in all clusters, and then, if the fastest
// has clusters of two, its other rasters.
template <class List, bool kGelu, class A, class B, class Out>
ChosenTile prepare_tuned(Queue& queue, const Shape& shape) {
  std::vector<ChosenTile> choices;
  for (const std::size_t tile : compiled_tiles<List, A, B>(shape.layout())) {
    add_choices<List>(choices, tile);
  }
  const auto of_raster = [](const ChosenTile& c) { return c.group_rows != kGroupRows; };
  const auto others = std::ranges::stable_partition(choices, std::not_fn(of_raster));
  const auto first = static_cast<int>(choices.size() - others.size());
  const auto choice = [&](int i) { return choices[static_cast<std::size_t>(i)]; };
  const auto rasters_of = [&](int i) {
    std::vector<int> rasters;
    for (int other = first; other < static_cast<int>(choices.size()); ++other) {
      if (choice(other).tile == choice(i).tile && choice(other).cluster == choice(i).cluster) {
        rasters.push_back(other);
      }
    }
    return rasters;
  };
  const auto make = [&](int i, const A* a, const B* b, const Out* bias, Out* c) {
    if constexpr (kGelu) {
      return bind_gelu<List>(queue, choice(i), shape, a, b, bias, c);
    } else {
      return bind_plain<List>(queue, choice(i), shape, a, b, c);
    }
  };
  return choice(fastest<A, B, Out>(queue, shape, first, make, rasters_of));
}

}  // namespace ridgebench::cuda
