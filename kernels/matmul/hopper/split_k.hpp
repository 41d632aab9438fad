// How a product with few rows of C, or with a small C and a long k, is divided among blocks: parts
// of C and of k.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/tile_scheduler.hpp"

namespace ridgebench::cuda {

struct StageRange {
  int first, count;
};

// Split k: the stages of block `rank` of `size`. Parts follow each other and differ by at most one.
constexpr StageRange split_k_range(int stages, unsigned rank, unsigned size) {
  const auto edge = [&](unsigned r) {
    return static_cast<int>(std::int64_t{stages} * r / static_cast<std::int64_t>(size));
  };
  return {.first = edge(rank), .count = edge(rank + 1) - edge(rank)};
}

// Blocks that share a tile: a power of two up to `most` that occupies up to `wanted` blocks and
// leaves each at least four stages.
constexpr int split_k_blocks(std::int64_t tiles, int stages, std::int64_t wanted, int most) {
  constexpr int fewest_stages = 4;
  int split = 1;
  while (2 * split <= most && 2 * split * tiles <= wanted && stages >= 2 * split * fewest_stages) {
    split *= 2;
  }
  return split;
}

// Columns of C per block. Each block loads its part of all of A, so twice the columns halve what L2
// delivers of A. With up to 32 rows that is half of what memory delivers of B at most, and L2 has
// it to spare. With more rows 128 columns pay, unless they leave an SM without a block.
constexpr int split_k_columns(std::int64_t m, std::int64_t n, int stages, int sms, int most) {
  constexpr int narrow = 64;
  constexpr int wide = 128;
  if (m <= 32) return narrow;
  const std::int64_t tiles = (n + wide - 1) / wide;
  return tiles * split_k_blocks(tiles, stages, 2 * std::int64_t{sms}, most) >= sms ? wide : narrow;
}

// From one row of sums in shared memory to the next, in elements. Lane l writes to row 2 (l % 4)
// and column l / 4 of a corner, so two rows must lie 8 banks apart.
constexpr int split_k_pitch(int columns) { return columns + 4; }

// A block's part of C with more than 64 rows.
inline constexpr TileShape kSplitKTile{128, 128};
inline constexpr int kSplitKBlocksOfSm = 2;  // resident
inline constexpr int kSplitKMostBlocks = 8;  // of a portable cluster
// Clocks in which a block writes the sums of such a part to shared memory, waits for its cluster
// and adds those of all. It is an assumption: 64 KiB at some 12 bytes per clock. Not run on a GPU.
inline constexpr double kSplitKSumClocks = 6000;

// The part of C of a block, and the blocks that share it and its k. For the record.
struct SplitKChoice {
  TileShape tile;
  int blocks;

  [[nodiscard]] std::string choice() const {
    return "tile " + std::to_string(tile.m) + "x" + std::to_string(tile.n) + ", k in " +
           std::to_string(blocks) + (blocks == 1 ? " part" : " parts");
  }
  // All blocks work at the same time, each on its part of k, so that memory delivers A and B once.
  [[nodiscard]] ModelTraffic traffic(const Machine& /*machine*/, const Shape& s,
                                     FormatPair formats) const {
    const ProductBytes whole = bytes_of_matrices(s, formats);
    return {.l2_to_sm_bytes = bytes_of_own_loads(tile, s, whole),
            .dram_bytes = whole.a + whole.b + whole.c};
  }
};

constexpr SplitKChoice choose_split_k(std::int64_t m, std::int64_t n, int stages, int sms) {
  TileShape tile = kSplitKTile;
  if (m <= 64) {
    const int rows = m <= 16 ? 16 : m <= 32 ? 32 : 64;
    tile = {rows, split_k_columns(m, n, stages, sms, kSplitKMostBlocks)};
  }
  const std::int64_t tiles = ceil_div(m, tile.m) * ceil_div(n, tile.n);
  return {tile,
          split_k_blocks(tiles, stages, std::int64_t{kSplitKBlocksOfSm} * sms, kSplitKMostBlocks)};
}

// Clocks of a product with more than 64 rows of C, on `sms` SMs; 0 if k is not split.
constexpr double split_k_clocks(const ProductWork& work, int sms) {
  const auto parts = [](std::int64_t size, int tile) { return (size + tile - 1) / tile; };
  const std::int64_t tiles = parts(work.m, kSplitKTile.m) * parts(work.n, kSplitKTile.n);
  const int split = split_k_blocks(tiles, static_cast<int>(work.stages),
                                   std::int64_t{kSplitKBlocksOfSm} * sms, kSplitKMostBlocks);
  if (split == 1) return 0;
  const auto blocks = static_cast<int>(tiles * split);
  const int of_sm = (blocks + sms - 1) / sms;
  const double stage = stage_clocks(kSplitKTile, 1, std::min(blocks, sms), 0);
  return of_sm * static_cast<double>(parts(work.stages, split)) * stage + kSplitKSumClocks;
}

// True if a split k saves more than a tenth of the clocks of the best tile of a persistent product.
// `work` has the epilogue of wgmma_persistent, which wgmma_pingpong hides.
constexpr bool split_k_pays(const ProductWork& work, int sms) {
  const double split = split_k_clocks(work, sms);
  if (split == 0) return false;
  const ActiveClusters active{sms, sms / 2, sms / 4};
  const auto best = [&](std::span<const TileShape> tiles, const ProductWork& of_kernel) {
    const TileChoice choice = choose_tile(tiles, of_kernel, active);
    return product_clocks(tiles[choice.tile], choice.cluster, sms / choice.cluster, of_kernel);
  };
  ProductWork hidden = work;
  hidden.epilogue_clocks = 0;
  return split < 0.9 * std::min(best(kFastTiles, work), best(kPingpongTiles, hidden));
}

}  // namespace ridgebench::cuda
