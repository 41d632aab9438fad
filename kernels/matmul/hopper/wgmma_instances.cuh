// Instances of the persistent kernel (wgmma_persistent.cuh): the few tiles that it is compiled for,
// and the two techniques that choose among them, by arithmetic and by measurement.
#pragma once

#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/wgmma_choice.hpp"
#include "kernels/matmul/hopper/wgmma_persistent.cuh"
#include "kernels/matmul/tile/tuning.cuh"

namespace ridgebench::cuda {

// Binds one instance.
template <Layout kLayout, class Tile, bool kPromoted, class A, class B, class Out, class Epilogue>
Launch bind_instance(const Queue& queue, const Product<A, B, Out>& product, int cluster,
                     const Epilogue& finish) {
  constexpr TileShape shape{Tile::kRows, Tile::kColumns};
  constexpr auto kernel = matmul_wgmma_persistent<kLayout, Tile, kPromoted, A, B, Out, Epilogue>;
  const Raster raster = raster_for(shape, cluster, product.m, product.n);
  const ClusterGrid grid = persistent_grid<Tile>(kernel, queue, raster, cluster);
  return [=, a = unit_map(product.a), b = unit_map(product.b),
          c = tensor_map(product.c, product.m, product.n, kUnitLines,
                         kLineBytes / static_cast<int>(sizeof(Out)), Swizzle::bytes_128),
          stages = static_cast<int>(ceil_div(product.k, kUnitK<A>)),
          n = static_cast<int>(product.n)] {
    launch(kernel, grid, a, b, c, raster, stages, n, finish);
  };
}

// A list of tiles for one way of adding up.
template <bool kPromoted, class... Tiles>
struct Instances {
  static constexpr std::array<TileShape, sizeof...(Tiles)> kShapes{
      TileShape{Tiles::kRows, Tiles::kColumns}...};

  template <Layout kLayout, class A, class B, class Out, class Epilogue>
  static Launch bind(const Queue& queue, const Product<A, B, Out>& product, Choice choice,
                     const Epilogue& finish) {
    using Bind = Launch (*)(const Queue&, const Product<A, B, Out>&, int, const Epilogue&);
    constexpr std::array<Bind, sizeof...(Tiles)> binds{
        bind_instance<kLayout, Tiles, kPromoted, A, B, Out, Epilogue>...};
    return binds[choice.tile](queue, product, choice.cluster, finish);
  }
};

using FastInstances = Instances<false, Tile<128, 256>, Tile<128, 128>, Tile<128, 64>>;
// 256 x 128: sums of 128 columns twice, and those that are promoted next.
using PromotedInstances = Instances<true, Tile<256, 128>, Tile<128, 128>, Tile<128, 64>>;

template <class List, class A, class B, class Out>
Launch bind_plain(Queue& queue, const Choice& choice, const Shape& shape, const A* a, const B* b,
                  Out* c) {
  return with_wgmma_layout<A>(shape.layout(), [&](auto layout) -> Launch {
    return List::template bind<layout>(queue, Product(shape, a, b, c), choice, Plain{});
  });
}

template <class List, class A, class B, class Out>
Launch bind_gelu(Queue& queue, const Choice& choice, const Shape& shape, const A* a, const B* b,
                 const Out* bias, Out* c) {
  require_hopper();
  return List::template bind<Layout::nt>(queue, Product(shape, a, b, c), choice,
                                         BiasGelu<Out>{bias});
}

// By arithmetic.
template <class List>
Choice choose_tile(Queue& /*queue*/, const Shape& shape) {
  return choose(List::kShapes, shape["m"], shape["n"], sm_count());
}

// By measurement of all there are.
template <class List, bool kGelu, class A, class B, class Out>
Choice tune_tile(Queue& queue, const Shape& shape) {
  const auto choice = [](int i) {
    const auto index = static_cast<std::size_t>(i);
    return Choice{.tile = index / kClusters.size(), .cluster = kClusters[index % kClusters.size()]};
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

// What Registration takes for one format.
template <class List, bool kTuned, class A, class B, class Out>
auto product() {
  return planned(kTuned ? tune_tile<List, false, A, B, Out> : choose_tile<List>,
                 bind_plain<List, A, B, Out>);
}
template <class List, bool kTuned, class A, class B, class Out>
auto product_gelu() {
  return planned(kTuned ? tune_tile<List, true, A, B, Out> : choose_tile<List>,
                 bind_gelu<List, A, B, Out>);
}

constexpr Technique wgmma_technique(std::string_view operation, std::string_view name,
                                    double approximation_error = 0) {
  return {.operation = operation,
          .name = name,
          .engine = Engine::tensor,
          .approximation_error = approximation_error};
}

}  // namespace ridgebench::cuda
