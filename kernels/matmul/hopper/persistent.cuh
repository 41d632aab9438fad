// A persistent grid: as many blocks as the device holds work off all tiles of C. One thread of each
// block loads stages by TMA ahead of the consumers, across the ends of tiles. The blocks of a
// cluster share one operand: each loads a part of it for all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/matmul/hopper/mainloop.cuh"
#include "kernels/matmul/hopper/tile_scheduler.hpp"

namespace ridgebench::cuda {

// Biases of a tile's columns, in the format of C, of up to 32 bits.
template <class Tile>
using TileBiases = std::byte[4 * Tile::kBlockN];

// A block's tile of C, and as many stages as fit into shared memory beside two boxes of C for each
// consumer: TMA stores one while the consumer fills the other. What is left holds further boxes.
template <int kM, int kN>
struct PersistentTile : BlockTile<kM, kN, box_columns({kM, kN})> {
  using Block = BlockTile<kM, kN, box_columns({kM, kN})>;
  using Block::kStageBytes;
  static constexpr TileShape kShape{kM, kN};
  static constexpr bool kSharesB = kShape.shares_b();      // a cluster shares B, or else A
  static constexpr int kReleasingWarps = kConsumerWarps;   // that use a stage of one block
  static constexpr int kConsumerBoxes = Block::kSubTiles;  // of A, to the next consumer's
  static constexpr int kBiasBytes = kConsumers * sizeof(TileBiases<PersistentTile>);
  static constexpr int kUsableBytes = kMaxSharedBytes - kBiasBytes - 1024;  // 1024 for barriers
  static constexpr int kStages = (kUsableBytes - 2 * kConsumers * kBoxBytes) / kStageBytes;
  static constexpr int kStoreBoxes =
      std::min(4, (kUsableBytes - kStages * kStageBytes) / (kConsumers * kBoxBytes));
  static_assert(kStages >= 3 && kStoreBoxes >= 2);

  struct Shared {
    std::byte stage[kStages][kStageBytes];
    std::byte store[kConsumers][kStoreBoxes * kBoxBytes];
    TileBiases<PersistentTile> biases[kConsumers];
    TmaPipeline<kStages> pipeline;
  };
};

// The tiles of this block: its part of every `step`-th cluster tile from `first` on.
template <class Tile>
struct BlockScheduler {
  TileScheduler tiles;
  int stages;  // of each tile
  unsigned rank, cluster;
  int first, step;

  __device__ BlockScheduler(const TileScheduler& scheduler, int stages_of_tile)
      : tiles(scheduler),
        stages(stages_of_tile),
        rank(cluster_ctarank()),
        cluster(cluster_nctarank()),
        first(static_cast<int>(blockIdx.x / cluster)),
        step(static_cast<int>(gridDim.x / cluster)) {}

  // First row and column of C of this block's part of a cluster tile.
  __device__ TileCoord origin(int tile) const {
    TileCoord coord = tiles.at(tile);
    int& shared = Tile::kSharesB ? coord.m : coord.n;
    shared = shared * static_cast<int>(cluster) + static_cast<int>(rank);
    return {coord.m * Tile::kBlockM, coord.n * Tile::kBlockN};
  }
};

// A stage of one operand: of the shared operand, this block's part for the whole cluster.
template <bool kKMajor, int kBoxes, int kRows, bool kShared, class Tile>
__device__ void load_for_cluster(std::byte* boxes, const TensorMap& map, int mn, int k,
                                 Barrier& full, const BlockScheduler<Tile>& scheduler) {
  if (kShared && scheduler.cluster > 1) {
    load_operand_multicast<kKMajor, kBoxes, kRows>(boxes, map, mn, k, full, scheduler.rank,
                                                   scheduler.cluster);
  } else {
    load_operand<kKMajor, kBoxes, kRows>(boxes, map, mn, k, full);
  }
}

// All threads call it first: fetches the tensor maps, initialises the barriers for the whole
// cluster and lets the next kernel start. It touches no memory that the kernel ahead may still
// write or read, so it overlaps with that kernel's end. Afterwards each thread that touches such
// memory calls griddepcontrol_wait() before it does. That orders a kernel after the one two places
// ahead, too: every block has a producer thread that waits, so a kernel ends after the one ahead of
// it.
template <class Tile>
__device__ void start_cluster(typename Tile::Shared& shared, const BlockScheduler<Tile>& scheduler,
                              const TensorMap& a, const TensorMap& b) {
  if (threadIdx.x == 0) {
    prefetch_tensormap(a);
    prefetch_tensormap(b);
    shared.pipeline.init(Tile::kReleasingWarps * static_cast<int>(scheduler.cluster));
  }
  __syncwarp();
  cluster_sync_relaxed();  // init() made the barriers visible
  griddepcontrol_launch_dependents();
}

// The producer thread: loads all stages of all tiles, and waits until all blocks have used them.
template <Layout kLayout, class A, class Tile>
__device__ void produce(typename Tile::Shared& shared, const TensorMap& a, const TensorMap& b,
                        const BlockScheduler<Tile>& scheduler) {
  constexpr int columns = kColumnsOfBox<Tile, kLayout>;
  griddepcontrol_wait();
  PipelineState<Tile::kStages> state;
  for (int tile = scheduler.first; tile < scheduler.tiles.count(); tile += scheduler.step) {
    const auto [row, column] = scheduler.origin(tile);
    for (int i = 0; i < scheduler.stages; ++i, state.advance()) {
      std::byte* const boxes = shared.stage[state.stage];
      const int k = i * kBlockK<A>;
      Barrier& full = shared.pipeline.producer_acquire(state, Tile::kStageBytes);
      load_for_cluster<a_is_k_major(kLayout), Tile::kBoxesA, kBoxRows, !Tile::kSharesB>(
          boxes, a, row, k, full, scheduler);
      load_for_cluster<b_is_k_major(kLayout), Tile::kBlockN / columns, columns, Tile::kSharesB>(
          boxes + Tile::kOffsetB, b, column, k, full, scheduler);
    }
  }
  shared.pipeline.producer_tail(state);
}

// The grid of a persistent kernel over all tiles: as many clusters as the device runs at once.
template <class Tile, class... Parameters>
ClusterGrid persistent_grid(void (*kernel)(Parameters...), const Queue& queue,
                            const TileScheduler& tiles, int cluster) {
  constexpr int shared_bytes = sizeof(typename Tile::Shared);
  static_assert(shared_bytes <= kMaxSharedBytes);
  set_max_dynamic_shared_bytes(kernel, shared_bytes);
  ClusterGrid grid{.blocks = dim3(static_cast<unsigned>(cluster)),
                   .threads = kWarpSpecialisedThreads,
                   .shared_bytes = shared_bytes,
                   .stream = stream_of(queue),
                   .cluster = static_cast<unsigned>(cluster),
                   .dependent_launch = queue.early_launches()};
  const int clusters = std::min(tiles.count(), max_active_clusters(kernel, grid));
  grid.blocks.x *= static_cast<unsigned>(clusters);
  return grid;
}

}  // namespace ridgebench::cuda
