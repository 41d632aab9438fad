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

// 4096 x 1000 x 512 in bf16: 32 tiles of 128 rows, and 6 of 192 columns, the last one partial.
TEST(ProductTraffic, CountsTheStagesOfAllTiles) {
  const ProductWork work{.m = 4096, .n = 1000, .stages = 8, .epilogue_clocks = 0};
  EXPECT_EQ(product_bytes_from_l2({128, 192}, 1, work), 32 * 6 * 8.0 * 128 * (128 + 192));
  EXPECT_EQ(product_bytes_from_l2({128, 192}, 2, work), 32 * 6 * 8.0 * 128 * (128 + 96));
  // 256 x 192: the blocks of a cluster share A.
  EXPECT_EQ(product_bytes_from_l2({256, 192}, 2, work), 16 * 6 * 8.0 * 128 * (192 + 128));
}

TEST(ProductTraffic, ReadsBForEachGroupThatMainMemoryServes) {
  const ProductBytes whole{.a = 100, .b = 30, .c = 7};
  const TileScheduler groups = schedule_tiles({128, 192}, 2, 8192, 8192);  // four of 2048 rows
  EXPECT_EQ(product_bytes_of_memory(groups, whole, 54), 100 + 7 + 4 * 30);
  EXPECT_EQ(product_bytes_of_memory(groups, whole, 55), 100 + 7 + 30) << "B and 25 of A stay";
  const TileScheduler ragged = schedule_tiles({128, 192}, 2, 8193, 8192);
  EXPECT_EQ(product_bytes_of_memory(ragged, whole, 0), 100 + 7 + 5 * 30);
  const TileScheduler one = schedule_tiles({128, 192}, 2, 300, 8192);
  EXPECT_EQ(product_bytes_of_memory(one, whole, 0), 100 + 7 + 30);
}

}  // namespace
}  // namespace ridgebench::cuda
