// The order, the choice and the sharing of work in Hopper's matrix products: plain arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "kernels/matmul/hopper/raster.hpp"
#include "kernels/matmul/hopper/ring.hpp"
#include "kernels/matmul/hopper/split.hpp"
#include "kernels/matmul/hopper/wgmma_choice.hpp"

namespace ridgebench::cuda {
namespace {

constexpr TileShape kWide{.rows = 128, .columns = 256};
constexpr TileShape kTall{.rows = 256, .columns = 128};
constexpr std::array<TileShape, 3> kTiles{kWide, TileShape{128, 128}, TileShape{128, 64}};
constexpr int kSms = 132;

TEST(Raster, EveryTileComesOnce) {
  for (const Raster raster : {Raster{1, 1, 8}, Raster{8, 5, 8}, Raster{17, 3, 8}, Raster{3, 40, 2},
                              Raster{23, 7, 5}, Raster{2, 2, 1}}) {
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < raster.count(); ++i) {
      const TilePlace place = raster.at(i);
      EXPECT_TRUE(place.row >= 0 && place.row < raster.rows);
      EXPECT_TRUE(place.column >= 0 && place.column < raster.columns);
      seen.emplace(place.row, place.column);
    }
    EXPECT_EQ(static_cast<int>(seen.size()), raster.count());
  }
}

// What 64 clusters in a row need of both operands: near the least that 64 tiles can need.
TEST(Raster, NeighboursInTimeFormASquare) {
  const Raster raster = raster_for(kWide, 2, 8192, 8192);
  EXPECT_EQ(raster.rows, 32);
  EXPECT_EQ(raster.columns, 32);
  for (int first = 0; first + 64 <= raster.count(); first += 64) {
    std::set<int> rows;
    std::set<int> columns;
    for (int i = first; i < first + 64; ++i) {
      rows.insert(raster.at(i).row);
      columns.insert(raster.at(i).column);
    }
    EXPECT_LE(rows.size() + columns.size(), 8 + 8);
  }
}

TEST(Raster, ClustersShareTheLargerOperand) {
  // Two tiles of 128 rows below each other share 256 columns of B; two of 128 columns share A.
  const Raster wide = raster_for(kWide, 2, 1000, 1000);
  EXPECT_EQ(wide.rows, 4);
  EXPECT_EQ(wide.columns, 4);
  const Raster tall = raster_for(kTall, 2, 1000, 1000);
  EXPECT_EQ(tall.rows, 4);
  EXPECT_EQ(tall.columns, 4);
  const Raster alone = raster_for(kTall, 1, 1000, 1000);
  EXPECT_EQ(alone.columns, 8);
}

TEST(Choice, LargeProductsTakeTheLargestTileInClusters) {
  for (const std::int64_t n : {4096, 8192, 16384}) {
    const Choice choice = choose(kTiles, n, n, kSms);
    EXPECT_EQ(choice.tile, 0U) << n;
    EXPECT_EQ(choice.cluster, 2) << n;
  }
}

TEST(Choice, SmallProductsTakeTilesThatGiveMoreSmsWork) {
  const Choice choice = choose(kTiles, 1024, 1024, kSms);
  const TileShape tile = kTiles[choice.tile];
  EXPECT_LT(tile.columns, 256);
  EXPECT_GE(raster_for(tile, 1, 1024, 1024).count(), 64);
}

TEST(Choice, OneTileIsEnoughForATinyProduct) {
  for (const int sms : {1, kSms}) {
    const Choice choice = choose(kTiles, 1, 1, sms);
    EXPECT_EQ(choice.tile, kTiles.size() - 1);
    EXPECT_EQ(choice.cluster, 1);
  }
}

TEST(Split, PartsFollowEachOtherAndAreEven) {
  for (const int stages : {1, 5, 8, 127, 512}) {
    for (const unsigned size : {1U, 2U, 4U, 8U}) {
      int next = 0;
      int least = stages;
      int most = 0;
      for (unsigned rank = 0; rank < size; ++rank) {
        const StageRange part = part_of_stages(stages, rank, size);
        EXPECT_EQ(part.first, next);
        next += part.count;
        least = std::min(least, part.count);
        most = std::max(most, part.count);
      }
      EXPECT_EQ(next, stages);
      EXPECT_LE(most - least, 1);
    }
  }
}

TEST(Split, GivesEverySmWorkButNobodyTooLittle) {
  EXPECT_EQ(split_for(128, 128, 264, 8), 2);  // 8192 columns in bf16
  EXPECT_EQ(split_for(16, 128, 264, 8), 8);
  EXPECT_EQ(split_for(512, 128, 264, 8), 1);
  EXPECT_EQ(split_for(16, 7, 264, 8), 1);  // two parts of fewer than four stages
  EXPECT_EQ(split_for(16, 16, 264, 8), 4);
}

TEST(PipelineState, ParityChangesWithEveryTrip) {
  PipelineState<3> ring;
  for (int i = 0; i < 20; ++i, ring.advance()) {
    EXPECT_EQ(ring.stage, i % 3);
    EXPECT_EQ(ring.parity, static_cast<unsigned>(i / 3 % 2));
  }
}

}  // namespace
}  // namespace ridgebench::cuda
