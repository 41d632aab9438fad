// The order of tiles: plain arithmetic.
#include "kernels/matmul/hopper/tile_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ridgebench::cuda {
namespace {

constexpr TileShape kWide{.m = 128, .n = 256};
constexpr TileShape kTall{.m = 256, .n = 128};

TEST(TileScheduler, EveryTileComesOnce) {
  for (const TileScheduler tiles :
       {TileScheduler{1, 1, 8}, TileScheduler{8, 5, 8}, TileScheduler{17, 3, 8},
        TileScheduler{3, 40, 2}, TileScheduler{23, 7, 5}, TileScheduler{2, 2, 1}}) {
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < tiles.count(); ++i) {
      const TileCoord coord = tiles.at(i);
      EXPECT_TRUE(coord.m >= 0 && coord.m < tiles.tiles_m);
      EXPECT_TRUE(coord.n >= 0 && coord.n < tiles.tiles_n);
      seen.emplace(coord.m, coord.n);
    }
    EXPECT_EQ(static_cast<int>(seen.size()), tiles.count());
  }
}

// 64 clusters in a row need of both operands little more than 64 tiles must.
TEST(TileScheduler, NeighboursInTimeFormASquare) {
  const TileScheduler tiles = schedule_tiles(kWide, 2, 8192, 8192);
  EXPECT_EQ(tiles.tiles_m, 32);
  EXPECT_EQ(tiles.tiles_n, 32);
  for (int first = 0; first + 64 <= tiles.count(); first += 64) {
    std::set<int> rows;
    std::set<int> columns;
    for (int i = first; i < first + 64; ++i) {
      rows.insert(tiles.at(i).m);
      columns.insert(tiles.at(i).n);
    }
    EXPECT_LE(rows.size() + columns.size(), 8 + 8);
  }
}

TEST(TileScheduler, ClustersShareTheLargerOperand) {
  // Two tiles of 128 rows below each other share 256 columns of B; two of 128 columns share A.
  const TileScheduler wide = schedule_tiles(kWide, 2, 1000, 1000);
  EXPECT_EQ(wide.tiles_m, 4);
  EXPECT_EQ(wide.tiles_n, 4);
  const TileScheduler tall = schedule_tiles(kTall, 2, 1000, 1000);
  EXPECT_EQ(tall.tiles_m, 4);
  EXPECT_EQ(tall.tiles_n, 4);
  const TileScheduler alone = schedule_tiles(kTall, 1, 1000, 1000);
  EXPECT_EQ(alone.tiles_n, 8);
}

}  // namespace
}  // namespace ridgebench::cuda
