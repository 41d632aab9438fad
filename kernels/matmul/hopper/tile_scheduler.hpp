// How the work of a product is divided among blocks: the order of tiles for a persistent grid, and
// the choice of tile and cluster by arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ridgebench::cuda {

struct TileCoord {
  int m, n;  // in tiles
};

// The order in which a persistent grid takes the tiles of C. Tiles that run at the same time should
// need few different rows of A and columns of B, so that those stay in L2. Groups of `group_m` rows
// of tiles are taken column by column, so that neighbours in time form a square.
struct TileScheduler {
  int tiles_m, tiles_n;
  int group_m;

  [[nodiscard]] constexpr int count() const { return tiles_m * tiles_n; }

  [[nodiscard]] constexpr TileCoord at(int index) const {
    const int first_m = index / (group_m * tiles_n) * group_m;
    const int height = std::min(group_m, tiles_m - first_m);
    const int within = index - first_m * tiles_n;
    return {first_m + within % height, within / height};
  }
};

struct TileShape {
  int m, n;
  // The blocks of a cluster share the larger operand of a tile.
  [[nodiscard]] constexpr bool shares_b() const { return n >= m; }
};

// Rows of C in a group: the 128 tiles that run at a time are then about square.
inline constexpr int kGroupRows = 2048;

// The order of a product's tiles. One tile of the scheduler is that of a whole cluster.
constexpr TileScheduler schedule_tiles(TileShape tile, int cluster, std::int64_t m,
                                       std::int64_t n) {
  const int cluster_m = tile.m * (tile.shares_b() ? cluster : 1);
  const int cluster_n = tile.n * (tile.shares_b() ? 1 : cluster);
  return {.tiles_m = static_cast<int>((m + cluster_m - 1) / cluster_m),
          .tiles_n = static_cast<int>((n + cluster_n - 1) / cluster_n),
          .group_m = std::max(1, kGroupRows / cluster_m)};
}

struct TileChoice {
  std::size_t tile;  // its index in the list
  int cluster;       // blocks
};

inline constexpr std::array<int, 2> kClusters{1, 2};

// Clocks of a tile relative to what the tensor cores need. Estimate: a wgmma reads 64 + n rows of
// 32 bytes from shared memory, at 128 bytes per clock, in n / 2 clocks; at n = 64 no bandwidth is
// left for the copies that arrive meanwhile.
constexpr double overhead(TileShape tile) { return 1 + 0.5 * (64.0 / tile.n); }

// Relative cost of a product: waves over all SMs, times the work of a block in each. The gain from
// sharing is an estimate; in a single wave blocks do not compete for L2.
constexpr double cost(TileShape tile, int cluster, std::int64_t m, std::int64_t n, int sms) {
  const int clusters = std::max(1, sms / cluster);
  const int waves = (schedule_tiles(tile, cluster, m, n).count() + clusters - 1) / clusters;
  const double sharing = cluster > 1 && waves > 1 ? 0.97 : 1.0;
  return waves * overhead(tile) * tile.m * tile.n * sharing;
}

// The tile and the cluster of the least cost.
constexpr TileChoice choose_tile(std::span<const TileShape> tiles, std::int64_t m, std::int64_t n,
                                 int sms) {
  TileChoice best{.tile = 0, .cluster = 1};
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
