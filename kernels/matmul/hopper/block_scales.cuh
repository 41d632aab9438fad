// How a consumer of a promoted product multiplies the temporary sums of a stage by their block
// scales when it adds them in fp32. A stage is a block of 128 of k, so the scales cost two
// multiplications for a sub-tile, and an addition becomes a multiply-add.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/matmul/block_scales.hpp"
#include "kernels/matmul/hopper/wgmma_persistent.cuh"

namespace ridgebench::cuda {

// The scales of a product, in the layout of Fp32Scales (block_scales.hpp). The kernel takes them as
// its epilogue, which changes no stored value.
struct BlockScales {
  const float* a;
  const float* b;
  std::int64_t m, k;
};

// A thread loads the scales of its rows when it has added the stage before, so that the products of
// the stage hide the latency. Rows and columns beyond C take the scales of the last ones, and TMA
// drops their results.
template <class Tile>
struct StagePromotion<Tile, BlockScales> {
  static_assert(Fp32Scales::kBlock % Tile::kBlockN == 0, "the columns of a tile have one scale");
  static constexpr int kRows = 2;  // of a sub-tile, of each thread

  BlockScales scales;
  const float* next_b = nullptr;
  std::int64_t block = 0;  // of k: the first stage whose scales are not loaded
  int stages = 0;
  int first_row = 0;
  float a[Tile::kSubTiles][kRows];
  float b = 0;

  __device__ explicit StagePromotion(const BlockScales& all) : scales(all) {}

  // Before the stages of a tile: loads the scales of the first one. `row` of C is the consumer's
  // first, `column` the tile's.
  __device__ void start_tile(int row, int column, int n, int stages_of_tile) {
    next_b = scales.b + Fp32Scales::index_b(std::min(column, n - 1), 0, n, scales.k);
    first_row = row;
    stages = stages_of_tile;
    block = 0;
    load();
  }

  // d += part times the scales of the stage; the wgmmas of `part` have completed.
  template <int kCount>
  __device__ void add(float (&d)[kCount], float (&part)[kCount], int sub_tile) const {
    warpgroup_fence_operand(part);
    const float scale[kRows] = {a[sub_tile][0] * b, a[sub_tile][1] * b};
#pragma unroll
    for (int i = 0; i < kCount; ++i) d[i] += part[i] * scale[i / 2 % kRows];
  }

  // After the last sub-tile of a stage.
  __device__ void advance() {
    if (block < stages) load();
  }

 private:
  __device__ void load() {
    const float* const of_block = scales.a + block * scales.m;
#pragma unroll
    for (int s = 0; s < Tile::kSubTiles; ++s) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t row = first_row + s * kWgmmaM + accumulator_row(2 * r);
        a[s][r] = of_block[std::min(row, scales.m - 1)];
      }
    }
    b = next_b[block];
    ++block;
  }
};

}  // namespace ridgebench::cuda
