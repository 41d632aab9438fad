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

// How a consumer applies an epilogue to its part of a tile, to two neighbouring columns at a time.
// Columns count from the tile's first one. Plain changes nothing.
template <class Tile, class Epilogue>
struct TileEpilogue {
  struct Biases {};

  __device__ TileEpilogue(const Epilogue& /*epilogue*/, TileBiases<Tile>& /*shared*/) {}
  __device__ void load(int /*column*/, int /*n*/) const {}
  __device__ void wait() const {}
  __device__ Biases biases(int /*column*/) const { return {}; }
  __device__ float2 operator()(float2 sums, Biases /*biases*/) const { return sums; }
};

// gelu(sum + bias), with the biases of the tile's columns in shared memory.
template <class Tile, class Out>
struct TileEpilogue<Tile, BiasGelu<Out>> {
  const Out* all;
  Out* own;

  __device__ TileEpilogue(const BiasGelu<Out>& epilogue, TileBiases<Tile>& shared)
      : all(epilogue.bias), own(reinterpret_cast<Out*>(shared)) {}

  // Starts to copy the biases from `column` of C on, and zeros for columns from n on. The consumer
  // calls it before it multiplies the tile. The last barrier of its store_tile before has shown
  // that no thread reads the biases of the tile before any more.
  __device__ void load(int column, int n) const {
    constexpr int count = 16 / static_cast<int>(sizeof(Out));  // of each copy
    static_assert(Tile::kBlockN / count <= kWarpgroup, "at most one copy for each thread");
    const int first = static_cast<int>(threadIdx.x) % kWarpgroup * count;
    if (first < Tile::kBlockN) {
      // The bytes of all of them, as TMA takes rows of whole 16 bytes. column + first may exceed an
      // int.
      const bool inside = first < n - column;
      cp_async_zfill(own + first, all + (inside ? column + first : 0), inside);
    }
    cp_async_commit_group();
  }
  // After it and the next barrier of the consumer every thread sees the biases.
  __device__ void wait() const { cp_async_wait_group<0>(); }

  __device__ Pair<Out> biases(int column) const {
    return *reinterpret_cast<const Pair<Out>*>(own + column);
  }
  __device__ float2 operator()(float2 sums, Pair<Out> biases) const {
    const float2 bias = to_float2(biases);
    return make_float2(gelu_approx<Out>(sums.x + bias.x), gelu_approx<Out>(sums.y + bias.y));
  }
};

// Applies the epilogue to 64 rows of 128 bytes from `column` of the tile on, rounds them and writes
// them as a box. `d` points to the first accumulator. TMA drops columns beyond n.
template <class Out, class Epilogue>
__device__ void write_box(std::byte* box, const float* d, int column, const Epilogue& epilogue) {
  constexpr int accumulators = kRowBytes / static_cast<int>(sizeof(Out)) / 2;  // of each thread
  // Four accumulators are two rows of two columns. The compiler would not load across a store.
  decltype(epilogue.biases(0)) biases[accumulators / 4];
#pragma unroll
  for (int g = 0; g < accumulators / 4; ++g) {
    biases[g] = epilogue.biases(column + accumulator_column(4 * g));
  }
  const auto pair = [&](int i) { return epilogue(make_float2(d[i], d[i + 1]), biases[i / 4]); };
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
    for (int i = 0; i < accumulators; i += 2) {
      auto* const to = box + swizzle_128b(accumulator_row(i), accumulator_column(i) * 4);
      const float2 both = pair(i);
      *reinterpret_cast<Pair<Out>*>(to) = {from_float<Out>(both.x), from_float<Out>(both.y)};
    }
  }
}

// Stores one consumer's rows of a tile, box by box. `turn` is the store buffer to use next.
template <class Tile, class Out, class Epilogue>
__device__ void store_tile(const TileAccumulators<Tile>& d, std::byte* store, const TensorMap& c,
                           int row, int column, int consumer, int& turn, const Epilogue& epilogue) {
  constexpr int box_columns = kRowBytes / static_cast<int>(sizeof(Out));
  constexpr int boxes = (Tile::kBlockN + box_columns - 1) / box_columns;  // of a sub-tile
  const bool elect_one = threadIdx.x % kWarpgroup == 0;
#pragma unroll
  for (int b = 0; b < Tile::kSubTiles * boxes; ++b) {
    const int sub_tile = b / boxes;
    // A box that would leave the tile overlaps with the one before, which stores the same numbers.
    const int offset = std::min(b % boxes * box_columns, Tile::kBlockN - box_columns);
    std::byte* const box = store + turn * kBoxBytes;
    turn = (turn + 1) % Tile::kStoreBoxes;
    if (elect_one) cp_async_bulk_wait_group_read<Tile::kStoreBoxes - 1>();
    named_barrier_sync(1 + consumer);  // TMA has read the box
    write_box<Out>(box, &d[sub_tile][offset / 2], offset, epilogue);
    fence_proxy_async();
    named_barrier_sync(1 + consumer);  // all threads have written the box
    if (elect_one) {
      tma_store_2d(c, column + offset, row + sub_tile * kWgmmaM, box);
      cp_async_bulk_commit_group();
    }
  }
}

}  // namespace ridgebench::cuda
