// Which tile and which cluster a persistent product takes, by arithmetic. The best by measurement
// is what `wgmma_tuned` finds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/matmul/hopper/raster.hpp"

namespace ridgebench::cuda {

inline constexpr std::array<int, 2> kClusters{1, 2};

// Clocks of a tile per 64 x 8 outputs and step of k, beyond what the tensor cores need. Estimate:
// an instruction reads 64 + n lines of 32 bytes of shared memory, 128 bytes per clock, in n / 2
// clocks: at n = 64 that leaves nothing for the copies that arrive meanwhile.
constexpr double overhead(TileShape tile) { return 1 + 0.5 * (64.0 / tile.columns); }

// Time that the product would take, in units that matter to no one: rounds of all SMs, times what a
// block does in each.
constexpr double cost(TileShape tile, int cluster, std::int64_t m, std::int64_t n, int sms) {
  const Raster raster = raster_for(tile, cluster, m, n);
  const int clusters = std::max(1, sms / cluster);
  const int rounds = (raster.count() + clusters - 1) / clusters;
  // An estimate as well. In a single round nobody competes for the L2 cache.
  const double sharing = cluster > 1 && rounds > 1 ? 0.97 : 1.0;
  return rounds * overhead(tile) * tile.rows * tile.columns * sharing;
}

constexpr Choice choose(std::span<const TileShape> tiles, std::int64_t m, std::int64_t n, int sms) {
  Choice best{.tile = 0, .cluster = 1};
  double least = cost(tiles[0], 1, m, n, sms);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (const int cluster : kClusters) {
      const double own = cost(tiles[t], cluster, m, n, sms);
      if (own < least) {
        least = own;
        best = {.tile = t, .cluster = cluster};
      }
    }
  }
  return best;
}

}  // namespace ridgebench::cuda
