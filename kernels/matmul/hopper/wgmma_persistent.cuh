// A persistent grid: as many blocks as the device holds work off all tiles of C, so that the first
// loads of a tile run while the tile before it is stored. Two neighbouring blocks form a cluster
// and share the larger operand: each loads half of it for both (multicast), which takes a third off
// what the L2 cache must deliver. Tiles follow a raster that keeps the cache warm (raster.hpp), and
// leave through shared memory by TMA. The limit is the tensor cores' own, and the power they draw.
#pragma once

#include <cstdint>

#include "kernels/common/cuda/ptx/stmatrix.cuh"
#include "kernels/matmul/hopper/persistent.cuh"
#include "kernels/matmul/hopper/wgmma_tile.cuh"
#include "kernels/matmul/tile/epilogue.cuh"

namespace ridgebench::cuda {

// Sums of a consumer.
template <class Tile>
using PersistentSums = TileAccumulators<Tile::kDown, Tile::kColumns>;

// The products of one tile. The tensor cores find the next stage's waiting before they are done
// with one, so a stage is released when the products of the one after it have begun.
template <Layout kLayout, class A, class B, class Tile>
__device__ void multiply_tile(PersistentSums<Tile>& sum, typename Tile::Shared& shared,
                              int consumer, PipelineState<Tile::kStages>& ring,
                              const Work<Tile>& work) {
  int before = 0;
  for (int i = 0; i < work.stages; ++i, ring.advance()) {
    const std::byte* const units = shared.stage[ring.stage];
    shared.barriers.wait_full(ring);
    multiply_stage<kLayout, A, B>(sum, units + consumer * Tile::kDown * kUnitBytes,
                                  units + Tile::kOffsetB, i > 0);
    warpgroup_wait<1>();
    if (i > 0) release(shared.barriers.empty[before], work.size);
    before = ring.stage;
  }
  warpgroup_wait<0>();
  release(shared.barriers.empty[before], work.size);
}

// The same for fp8, whose tensor cores keep 13 bits of a sum: what they sum up over 128 of k moves
// to sums in fp32.
template <Layout kLayout, class A, class B, class Tile>
__device__ void multiply_tile_promoted(PersistentSums<Tile>& sum, typename Tile::Shared& shared,
                                       int consumer, PipelineState<Tile::kStages>& ring,
                                       const Work<Tile>& work) {
  clear_sums(sum);
  for (int i = 0; i < work.stages; ++i, ring.advance()) {
    const std::byte* const units = shared.stage[ring.stage];
    shared.barriers.wait_full(ring);
#pragma unroll
    for (int d = 0; d < Tile::kDown; ++d) {
      TileAccumulators<1, Tile::kColumns> part;
      multiply_stage<kLayout, A, B>(part, units + (consumer * Tile::kDown + d) * kUnitBytes,
                                    units + Tile::kOffsetB, false);
      warpgroup_wait<0>();
      if (d == Tile::kDown - 1) release(shared.barriers.empty[ring.stage], work.size);
      add_part(sum[d], part[0]);
    }
  }
}

// Finishes and rounds the 128 bytes of columns from `column` on of a warpgroup's 64 rows, whose
// sums begin at `sum`, and writes them as a unit. Neighbours are finished even beyond column n.
template <class Out, class Epilogue>
__device__ void write_unit(std::byte* unit, const float* sum, int column, int n,
                           const Epilogue& finish) {
  const auto pair = [&](int s) {
    const int first = column + accumulator_column(s);
    return make_float2(finish(sum[s], min(first, n - 1)),
                       finish(sum[s + 1], min(first + 1, n - 1)));
  };
  if constexpr (sizeof(Out) == 2) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int row = accumulator_row(0) - lane / 4 + lane % 16;  // that this lane addresses
#pragma unroll
    for (int group = 0; group < 4; ++group) {  // of 16 columns, 8 sums of each thread
      std::uint32_t word[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) word[w] = narrow<Out>(pair(8 * group + 2 * w));
      stmatrix_x4(unit + swizzled(row, 32 * group + lane / 16 * 16), word);
    }
  } else {
    static_assert(sizeof(Out) == 4);
#pragma unroll
    for (int s = 0; s < kLineBytes / 8; s += 2) {
      auto* const to = unit + swizzled(accumulator_row(s), accumulator_column(s) * 4);
      const float2 both = pair(s);
      *reinterpret_cast<Pair<Out>*>(to) = {from_float<Out>(both.x), from_float<Out>(both.y)};
    }
  }
}

// Stores a tile's rows of one consumer, unit by unit; `turn` says in which buffer to go on.
template <class Tile, class Out, class Epilogue>
__device__ void store_tile(const PersistentSums<Tile>& sum, std::byte* store, const TensorMap& c,
                           int row, int column, int n, int consumer, int& turn,
                           const Epilogue& finish) {
  constexpr int columns = kLineBytes / static_cast<int>(sizeof(Out));
  constexpr int units = Tile::kDown * Tile::kColumns / columns;
  const bool leads = threadIdx.x % kWarpgroup == 0;
#pragma unroll
  for (int u = 0; u < units; ++u) {
    const int d = u / (units / Tile::kDown);
    const int across = u % (units / Tile::kDown) * columns;
    std::byte* const unit = store + turn * kUnitBytes;
    turn = (turn + 1) % kStoreUnits;
    if (leads) cp_async_bulk_wait_group_read<kStoreUnits - 1>();
    named_barrier_sync(1 + consumer);  // the unit is free
    write_unit<Out>(unit, &sum[d][across / 2], column + across, n, finish);
    fence_proxy_async();
    named_barrier_sync(1 + consumer);  // and full
    if (leads) {
      tma_store_2d(c, column + across, row + d * kWgmmaRows, unit);
      cp_async_bulk_commit_group();
    }
  }
}

template <Layout kLayout, class Tile, bool kPromoted, class A, class B, class Out, class Epilogue>
__global__ void __launch_bounds__(kWarpSpecialisedThreads, 1)
    matmul_wgmma_persistent(const __grid_constant__ TensorMap a,
                            const __grid_constant__ TensorMap b,
                            const __grid_constant__ TensorMap c, Raster raster, int stages, int n,
                            Epilogue finish) {
  alignas(kUnitAlignment) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<typename Tile::Shared*>(memory);
  const Work<Tile> work(raster, stages);
  set_up_barriers(shared, work);

  if (threadIdx.x < kWarpgroup) {
    warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) produce<kLayout, A>(shared, a, b, work);
  } else {
    warpgroup_reg_alloc<232>();
    const int consumer = warpgroup_index() - 1;
    PipelineState<Tile::kStages> ring;
    PersistentSums<Tile> sum;
    int turn = 0;
    for (int item = work.first; item < raster.count(); item += work.step) {
      if constexpr (kPromoted) {
        multiply_tile_promoted<kLayout, A, B>(sum, shared, consumer, ring, work);
      } else {
        multiply_tile<kLayout, A, B>(sum, shared, consumer, ring, work);
      }
      const auto [row, column] = work.origin(item);
      store_tile<Tile, Out>(sum, shared.store[consumer], c,
                            row + consumer * Tile::kDown * kWgmmaRows, column, n, consumer, turn,
                            finish);
    }
    if (threadIdx.x % kWarpgroup == 0) cp_async_bulk_wait_group();
  }
  __syncwarp();
  cluster_sync_relaxed();  // nobody leaves while another may still arrive at its barriers
}

}  // namespace ridgebench::cuda
