// The frame of a persistent grid: as many blocks as the device holds work off all tiles of C. One
// thread of each loads stages of operands by TMA, ahead of two consumer warpgroups, across the ends
// of tiles. Blocks may form clusters that share an operand: each loads a part of it for all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/cuda/cluster_launch.cuh"
#include "kernels/matmul/hopper/raster.hpp"
#include "kernels/matmul/hopper/specialised.cuh"

namespace ridgebench::cuda {

inline constexpr int kStoreUnits = 2;  // of each consumer, to store one while it fills the other

// A block's tile of C, split by rows between the consumers, and the stages that it leaves room for.
template <int kRowsOfTile, int kColumnsOfTile>
struct Tile : BlockTile<kRowsOfTile, kColumnsOfTile> {
  using BlockTile<kRowsOfTile, kColumnsOfTile>::kStageBytes;
  static constexpr bool kSharesB = kColumnsOfTile >= kRowsOfTile;  // with its cluster, or else A
  static constexpr int kStoreBytes = kConsumers * kStoreUnits * kUnitBytes;
  static constexpr int kBarrierBytes = 1024;
  static constexpr int kStages = (kMostSharedBytes - kStoreBytes - kBarrierBytes) / kStageBytes;

  struct Shared {
    std::byte stage[kStages][kStageBytes];
    std::byte store[kConsumers][kStoreUnits * kUnitBytes];
    TmaPipeline<kStages> barriers;
  };
};

// Which tiles this block computes: those of its cluster's items, every `step`-th of the raster,
// whose rows and columns count tiles of whole clusters.
template <class Tile>
struct Work {
  Raster raster;
  int stages;  // of each tile
  unsigned rank, size;
  int first, step;

  __device__ Work(const Raster& order, int stages_of_tile)
      : raster(order),
        stages(stages_of_tile),
        rank(cluster_ctarank()),
        size(cluster_nctarank()),
        first(static_cast<int>(blockIdx.x / size)),
        step(static_cast<int>(gridDim.x / size)) {}

  // First row and column of C of an item.
  __device__ TilePlace origin(int item) const {
    TilePlace place = raster.at(item);
    int& split = Tile::kSharesB ? place.row : place.column;
    split = split * static_cast<int>(size) + static_cast<int>(rank);
    return {place.row * Tile::kRows, place.column * Tile::kColumns};
  }
};

// A stage of one operand, of the shared one this block's part for the whole cluster.
template <bool kAlongK, int kUnits, bool kShares, class Tile>
__device__ void load_operand(std::byte* units, const TensorMap& map, int vector, int k,
                             Barrier& full, const Work<Tile>& work) {
  if (kShares && work.size > 1) {
    load_shared_units<kAlongK, kUnits>(units, map, vector, k, full, work.rank, work.size);
  } else {
    load_units<kAlongK, kUnits>(units, map, vector, k, full);
  }
}

// All threads, first of all: barriers that the whole cluster can use, and operands that are there.
template <class Tile>
__device__ void set_up_barriers(typename Tile::Shared& shared, const Work<Tile>& work) {
  if (threadIdx.x == 0) shared.barriers.init(kConsumerWarps * static_cast<int>(work.size));
  __syncwarp();
  cluster_sync_relaxed();  // init() has published them
  wait_for_predecessor();
}

// The producer's one thread: all stages of all tiles.
template <Layout kLayout, class A, class Tile>
__device__ void produce(typename Tile::Shared& shared, const TensorMap& a, const TensorMap& b,
                        const Work<Tile>& work) {
  prefetch_tensormap(a);
  prefetch_tensormap(b);
  PipelineState<Tile::kStages> ring;
  for (int item = work.first; item < work.raster.count(); item += work.step) {
    const auto [row, column] = work.origin(item);
    for (int i = 0; i < work.stages; ++i, ring.advance()) {
      std::byte* const units = shared.stage[ring.stage];
      const int k = i * kUnitK<A>;
      Barrier& full = shared.barriers.claim(ring, Tile::kStageBytes);
      load_operand<a_is_k_major(kLayout), Tile::kUnitsA, !Tile::kSharesB>(units, a, row, k, full,
                                                                       work);
      load_operand<b_is_k_major(kLayout), Tile::kUnitsB, Tile::kSharesB>(units + Tile::kOffsetB, b,
                                                                      column, k, full, work);
    }
  }
}

// A warp is done with a stage: it says so to every block that loads it.
__device__ inline void release(Barrier& empty, unsigned cluster) {
  const unsigned lane = threadIdx.x % kWarp;
  if (lane < cluster) mbarrier_arrive_cluster(empty, lane);
}

// The grid of a persistent kernel over all tiles of a raster: as many clusters as run at once.
template <class Tile, class... Parameters>
ClusterGrid persistent_grid(void (*kernel)(Parameters...), const Queue& queue, const Raster& raster,
                            int cluster) {
  constexpr int shared_bytes = sizeof(typename Tile::Shared);
  static_assert(shared_bytes <= kMostSharedBytes);
  allow_shared(kernel, shared_bytes);
  ClusterGrid grid{.blocks = dim3(static_cast<unsigned>(cluster)),
                   .threads = kWarpSpecialisedThreads,
                   .shared_bytes = shared_bytes,
                   .stream = stream_of(queue),
                   .cluster = static_cast<unsigned>(cluster),
                   .early = true};
  const int clusters = std::min(raster.count(), clusters_at_once(kernel, grid));
  grid.blocks.x *= static_cast<unsigned>(clusters);
  return grid;
}

}  // namespace ridgebench::cuda
