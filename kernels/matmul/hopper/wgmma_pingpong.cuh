// Over wgmma_persistent: the two consumers of a block work on different tiles of C, and take turns
// at the tensor cores. While one stores its tile, the other multiplies, so the epilogue costs the
// tensor cores no time where it is shorter than a tile's products. A consumer holds a whole tile,
// of up to 128 x 200. The limit is the tensor cores' rate, and what the last wave leaves idle.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "kernels/matmul/hopper/wgmma_persistent.cuh"

namespace ridgebench::cuda {

// The consumers' turns at the tensor cores (CUTLASS: OrderedSequenceBarrier). A turn is more than
// an order of speed: mbarriers distinguish a stage's trips round the ring by parity only, so a
// consumer may wait for a stage only after the stage's trip before has arrived, which the other
// consumer has then waited for.
struct ConsumerTurns {
  // Waits until the other consumer passes the turn. No tile comes before the block's first one.
  __device__ static void wait(int consumer, bool first_tile) {
    if (!first_tile) named_barrier_sync<kThreads>(kFirstBarrier + consumer);
  }
  // Called once the products of a tile have been started. Nobody takes the turn after the last
  // tile: each arrival at a barrier has its wait.
  __device__ static void pass(int consumer, bool last_tile) {
    if (!last_tile) named_barrier_arrive<kThreads>(kFirstBarrier + 1 - consumer);
  }

 private:
  static constexpr int kThreads = kConsumers * kWarpgroup;
  static constexpr int kFirstBarrier = 1 + kConsumers;  // the consumers' stores use those below
};

// A tile that one consumer computes and stores alone, from all of a stage.
template <int kM, int kN>
struct PingpongTile : PersistentTile<kM, kN> {
  static constexpr int kSubTiles = PersistentTile<kM, kN>::kBoxesA;
  static constexpr int kReleasingWarps = kWarpgroup / kWarp;
  static constexpr int kConsumerBoxes = 0;
  using Turns = ConsumerTurns;
};

template <Layout kLayout, class Tile, class A, class B, class Out, class Epilogue>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_pingpong(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
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
    state.advance(consumer * stages);
    const TileEpilogue<Tile, Epilogue> tile_epilogue(epilogue, shared.biases[consumer]);
    TileAccumulators<Tile> d;
    int turn = 0;
    for (int tile = scheduler.first + consumer * scheduler.step; tile < tiles.count();
         tile += kConsumers * scheduler.step) {
      const auto [row, column] = scheduler.origin(tile);
      tile_epilogue.load(column, n);
      Tile::Turns::wait(consumer, tile == scheduler.first);
      const int last = start_tile<kLayout, A, B>(d, ring, state, scheduler);
      Tile::Turns::pass(consumer, tile + scheduler.step >= tiles.count());
      finish_tile(ring, last, scheduler);
      state.advance(stages);  // of the other consumer's tile
      tile_epilogue.wait();
      store_tile<Tile, Out>(d, shared.store[consumer], c, row, column, consumer, turn,
                            tile_epilogue);
    }
    if (threadIdx.x % kWarpgroup == 0) cp_async_bulk_wait_group();
  }
}

// The tiles of the technique, as a list from which tile_choice.cuh chooses.
template <class... Tiles>
struct PingpongTiles {
  static constexpr std::array<TileShape, sizeof...(Tiles)> kShapes{Tiles::kShape...};
  static constexpr bool kPromotes = false;
  static constexpr bool kHidesEpilogue = true;

  template <Layout kLayout, std::size_t kTile, class A, class B, class Out, class Epilogue>
  static Launch bind_tile(const Queue& queue, const Product<A, B, Out>& product,
                          const TileChoice& choice, const Epilogue& epilogue) {
    using Tile = std::tuple_element_t<kTile, std::tuple<Tiles...>>;
    constexpr auto kernel = matmul_wgmma_pingpong<kLayout, Tile, A, B, Out, Epilogue>;
    return bind_kernel<Tile>(kernel, queue, product, choice, epilogue);
  }
};

// Those that the technique is compiled for.
template <std::size_t... i>
PingpongTiles<PingpongTile<kPingpongTiles[i].m, kPingpongTiles[i].n>...> pingpong_tiles(
    std::index_sequence<i...>);
using AllPingpongTiles =
    decltype(pingpong_tiles(std::make_index_sequence<kPingpongTiles.size()>()));

}  // namespace ridgebench::cuda
