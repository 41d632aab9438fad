// How the blocks of a cluster share the stages of k.
#pragma once

#include <cstdint>

namespace ridgebench::cuda {

struct StageRange {
  int first, count;
};

// The part of block `rank` of `size`: parts follow each other and differ by one stage at most.
constexpr StageRange part_of_stages(int stages, unsigned rank, unsigned size) {
  const auto edge = [&](unsigned r) {
    return static_cast<int>(std::int64_t{stages} * r / static_cast<std::int64_t>(size));
  };
  return {.first = edge(rank), .count = edge(rank + 1) - edge(rank)};
}

// Blocks that share one tile, a power of two up to `most`: enough to give `wanted` blocks work,
// while each has a few stages.
constexpr int split_for(std::int64_t tiles, int stages, std::int64_t wanted, int most) {
  constexpr int fewest_stages = 4;
  int split = 1;
  while (2 * split <= most && 2 * split * tiles <= wanted && stages >= 2 * split * fewest_stages) {
    split *= 2;
  }
  return split;
}

}  // namespace ridgebench::cuda
