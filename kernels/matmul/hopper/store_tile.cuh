// How a consumer of the persistent kernels stores its part of a tile: the epilogue in registers,
// then box by box through shared memory and by TMA, which also drops what lies outside C.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/matmul/hopper/persistent.cuh"

namespace ridgebench::cuda {

// Accumulators of a consumer.
template <class Tile>
using TileAccumulators = Accumulators<Tile::kSubTiles, Tile::kBlockN>;

// Applies the epilogue to 64 rows of 128 bytes of C from `column` on, rounds them and writes them
// as a box. `d` points to the first accumulator. Columns beyond n are computed and dropped by TMA.
template <class Out, class Epilogue>
__device__ void write_box(std::byte* box, const float* d, int column, int n,
                          const Epilogue& epilogue) {
  const auto pair = [&](int i) {
    const int first = column + accumulator_column(i);
    return make_float2(epilogue(d[i], min(first, n - 1)),
                       epilogue(d[i + 1], min(first + 1, n - 1)));
  };
  if constexpr (sizeof(Out) == 2) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int row = accumulator_row(0) - lane / 4 + lane % 16;  // whose address this lane gives
#pragma unroll
    for (int group = 0; group < 4; ++group) {  // of 16 columns: 8 accumulators of each thread
      std::uint32_t word[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) word[w] = narrow<Out>(pair(8 * group + 2 * w));
      stmatrix_x4(box + swizzle_128b(row, 32 * group + lane / 16 * 16), word);
    }
  } else {
    static_assert(sizeof(Out) == 4);
#pragma unroll
    for (int i = 0; i < kRowBytes / 8; i += 2) {
      auto* const to = box + swizzle_128b(accumulator_row(i), accumulator_column(i) * 4);
      const float2 both = pair(i);
      *reinterpret_cast<Pair<Out>*>(to) = {from_float<Out>(both.x), from_float<Out>(both.y)};
    }
  }
}

// Stores one consumer's rows of a tile, box by box. `turn` is the store buffer to use next.
template <class Tile, class Out, class Epilogue>
__device__ void store_tile(const TileAccumulators<Tile>& d, std::byte* store, const TensorMap& c,
                           int row, int column, int n, int consumer, int& turn,
                           const Epilogue& epilogue) {
  constexpr int box_columns = kRowBytes / static_cast<int>(sizeof(Out));
  constexpr int boxes = (Tile::kBlockN + box_columns - 1) / box_columns;  // of a sub-tile
  const bool elect_one = threadIdx.x % kWarpgroup == 0;
#pragma unroll
  for (int b = 0; b < Tile::kSubTiles * boxes; ++b) {
    const int sub_tile = b / boxes;
    // A box that would leave the tile overlaps with the one before, which stores the same numbers.
    const int offset = std::min(b % boxes * box_columns, Tile::kBlockN - box_columns);
    std::byte* const box = store + turn * kBoxBytes;
    turn = (turn + 1) % kStoreBoxes;
    if (elect_one) cp_async_bulk_wait_group_read<kStoreBoxes - 1>();
    named_barrier_sync(1 + consumer);  // TMA has read the box
    write_box<Out>(box, &d[sub_tile][offset / 2], column + offset, n, epilogue);
    fence_proxy_async();
    named_barrier_sync(1 + consumer);  // all threads have written the box
    if (elect_one) {
      tma_store_2d(c, column + offset, row + sub_tile * kWgmmaM, box);
      cp_async_bulk_commit_group();
    }
  }
}

}  // namespace ridgebench::cuda
