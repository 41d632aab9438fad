// How a product with few rows of C is divided among blocks: columns of C and parts of k.
#pragma once

#include <cstdint>

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

}  // namespace ridgebench::cuda
