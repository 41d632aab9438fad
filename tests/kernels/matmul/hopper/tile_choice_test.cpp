// The choice of tile and cluster, against a simulation that shares no formula with it: the
// simulation hands out tiles one by one and counts the lines and the bytes of each box.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/matmul/hopper/tile_scheduler.hpp"

namespace ridgebench::cuda {
namespace {

constexpr ActiveClusters kActiveOnH100{132, 66, 32};
constexpr std::array<ActiveClusters, 4> kDevices{
    kActiveOnH100, {114, 57, 28}, {16, 8, 4}, {7, 3, 0}};  // H100 SXM and PCIe, and slices of them
constexpr double kMostLoss = 1.03;

struct Problem {
  std::int64_t m, n, k;
};

// The squares and the model shapes of matmul's full sweep.
constexpr std::array<Problem, 12> kTwelve{{{8192, 8192, 8192},
                                           {4096, 4096, 4096},
                                           {2048, 2048, 2048},
                                           {1024, 1024, 1024},
                                           {16384, 16384, 16384},
                                           {4096, 7168, 16384},
                                           {4096, 1536, 24576},
                                           {2048, 2048, 13312},
                                           {8192, 28672, 8192},
                                           {16, 8192, 8192},
                                           {64, 8192, 8192},
                                           {5120, 5120, 5000}}};

ProductWork work_of(const Problem& problem, int bytes_of_a, int bytes_of_c, bool gelu) {
  return {.m = problem.m,
          .n = problem.n,
          .stages = (problem.k * bytes_of_a + 127) / 128,
          .epilogue_clocks = epilogue_clocks(static_cast<std::size_t>(bytes_of_c), gelu)};
}

// True if the blocks of a cluster share columns of B, else rows of A.
bool is_shared_by_columns(TileShape tile) { return tile.m == 128 && tile.n >= 112; }

// Clocks of a stage of one block, when `sms` blocks work.
double simulate_stage(TileShape tile, int cluster, int sms, double promotion) {
  double tensor = 0;
  double lines = 0;  // of 128 bytes, a clock each, that wgmma reads from shared memory
  for (int row = 0; row < tile.m; row += 64) {
    for (int k = 0; k < 128; k += 32) {                           // bytes, in bf16 16 numbers
      tensor += 2.0 * 64 * tile.n * 16 / 4096;                    // FLOP, and FLOP per clock
      for (int r = 0; r < 64 + tile.n; ++r) lines += 32.0 / 128;  // of A, then of B
    }
  }
  const bool shares_columns = is_shared_by_columns(tile);
  const int box = !shares_columns ? tile.n : tile.n == 200 ? 40 : tile.n / 2;
  int loaded = 0;  // columns of B, box by box
  while (loaded < tile.n) loaded += box;
  double bytes = 0;  // that all blocks of the cluster load
  for (int block = 0; block < cluster; ++block) {
    bytes += 128.0 * (shares_columns ? tile.m : loaded);
    if (block == 0) bytes += 128.0 * (shares_columns ? loaded : tile.m);
  }
  const double rate = std::min(64.0, 52.5 * 132 / sms);
  if (tile.m == 128 && tile.n <= 128) promotion = 0;  // it overlaps with the products
  return std::max({tensor + promotion, lines, bytes / cluster / rate});
}

// Clocks of a product: each cluster takes the next tile as soon as it is free.
double simulate(TileShape tile, int cluster, int clusters, const ProductWork& work) {
  const int rows = tile.m * (is_shared_by_columns(tile) ? cluster : 1);
  const int columns = tile.n * (is_shared_by_columns(tile) ? 1 : cluster);
  std::vector<int> tiles_of(static_cast<std::size_t>(clusters), 0);
  std::size_t next = 0;
  for (std::int64_t row = 0; row < work.m; row += rows) {
    for (std::int64_t column = 0; column < work.n; column += columns) {
      ++tiles_of[next];
      next = (next + 1) % tiles_of.size();
    }
  }
  const auto busy = std::ranges::count_if(tiles_of, [](int tiles) { return tiles > 0; });
  const double stage =
      simulate_stage(tile, cluster, static_cast<int>(busy) * cluster, work.promotion_clocks);
  double slowest = 0;
  for (const int tiles : tiles_of) {
    double clocks = 0;
    for (int t = 0; t < tiles; ++t) {
      clocks += stage * static_cast<double>(work.stages);
      clocks += work.epilogue_clocks * (tile.m / 128.0) * (tile.n / 256.0);
    }
    slowest = std::max(slowest, clocks);
  }
  return slowest;
}

struct Verdict {
  TileShape tile;
  int cluster;
  double loss;  // simulated clocks of the choice over those of the best
};

Verdict judge(std::span<const TileShape> tiles, const ProductWork& work,
              const ActiveClusters& active) {
  const TileChoice choice = choose_tile(tiles, work, active);
  double best = INFINITY;
  double own = INFINITY;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (std::size_t c = 0; c < kClusters.size(); ++c) {
      if (active[c] == 0) continue;
      const double clocks = simulate(tiles[t], kClusters[c], active[c], work);
      best = std::min(best, clocks);
      if (t == choice.tile && kClusters[c] == choice.cluster) own = clocks;
    }
  }
  return {.tile = tiles[choice.tile], .cluster = choice.cluster, .loss = own / best};
}

void expect_good_choices(const Problem& problem, const ActiveClusters& active) {
  for (const int bytes_of_a : {1, 2, 4}) {
    for (const bool gelu : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << problem.m << " x " << problem.n << " x " << problem.k << ", " << bytes_of_a
                   << " bytes, gelu " << gelu << ", " << active[0] << " SMs");
      ProductWork work = work_of(problem, bytes_of_a, std::max(bytes_of_a, 2), gelu);
      EXPECT_LE(judge(kFastTiles, work, active).loss, kMostLoss);
      ProductWork hidden = work;
      hidden.epilogue_clocks = 0;
      EXPECT_LE(judge(kPingpongTiles, hidden, active).loss, kMostLoss);
      if (bytes_of_a > 1) continue;
      work.promotion_clocks = kPromotionClocks;
      EXPECT_LE(judge(kPromotedTiles, work, active).loss, kMostLoss);
    }
  }
}

TEST(ChooseTile, IsNearTheBestOfASimulationForTheShapesOfTheSweep) {
  for (const ActiveClusters& active : kDevices) {
    for (const Problem& problem : kTwelve) expect_good_choices(problem, active);
  }
}

TEST(ChooseTile, IsNearTheBestOfASimulationForRandomShapes) {
  std::mt19937 random(20261127);
  const auto size = [&] {
    return static_cast<std::int64_t>(
        std::exp2(std::uniform_real_distribution<double>(0, 14.5)(random)));
  };
  for (int i = 0; i < 200; ++i) {
    const Problem problem{size(), size(), size()};
    for (const ActiveClusters& active : kDevices) expect_good_choices(problem, active);
  }
}

// The tests above can fail: one tile for all shapes loses much.
TEST(ChooseTile, OneTileForAllShapesWouldNotBeNearTheBest) {
  const ProductWork work = work_of({4096, 1536, 24576}, 2, 2, false);
  const Verdict verdict = judge(kFastTiles, work, kActiveOnH100);
  const double wide = simulate({128, 256}, 2, 66, work);
  const double chosen = simulate(verdict.tile, verdict.cluster, 66, work);
  EXPECT_GT(wide / chosen, kMostLoss);
}

TEST(ChooseTile, LargeProductsTakeLargeTilesThatFillTheirWavesInClusters) {
  for (const auto& [n, columns] : {std::pair(4096, 256), {8192, 224}, {16384, 160}}) {
    const Verdict verdict = judge(kFastTiles, work_of({n, n, n}, 2, 2, false), kActiveOnH100);
    EXPECT_EQ(verdict.tile.n, columns) << n;
    EXPECT_EQ(verdict.cluster, 2) << n;
  }
}

// Shapes whose waves the widths of the ping-pong product fill, and what it had before them.
TEST(ChooseTile, WidthsFillTheWavesOfThePingpongProduct) {
  constexpr std::array<TileShape, 3> few{{{128, 192}, {128, 160}, {128, 128}}};
  const auto clocks = [](std::span<const TileShape> tiles, std::int64_t n) {
    ProductWork work = work_of({n, n, n}, 2, 2, false);
    work.epilogue_clocks = 0;
    const Verdict verdict = judge(tiles, work, kActiveOnH100);
    const int clusters = kActiveOnH100[verdict.cluster == 4 ? 2 : verdict.cluster - 1];
    return std::pair(verdict.tile.n, simulate(verdict.tile, verdict.cluster, clusters, work));
  };
  for (const auto& [n, columns, gain] : {std::tuple(4096, 112, 1.01), {8192, 200, 1.005}}) {
    const auto [chosen, now] = clocks(kPingpongTiles, n);
    EXPECT_EQ(chosen, columns) << n;
    EXPECT_GE(clocks(few, n).second / now, gain) << n;
  }
}

// A list has no two tiles of one shape, and each is loaded in whole boxes of whole atoms.
TEST(ChooseTile, NoTileLoadsColumnsThatItDoesNotMultiply) {
  const auto check = [](std::span<const TileShape> tiles) {
    for (const TileShape tile : tiles) {
      EXPECT_EQ(tile.n % box_columns(tile), 0) << tile.n;
      EXPECT_EQ(box_columns(tile) % 8, 0) << tile.n;
      EXPECT_LE(box_columns(tile), 256) << tile.n;
      const int boxes = tile.n / box_columns(tile);
      EXPECT_EQ(boxes > 1, tile.shares_b()) << tile.n;
      // MN-major, a box has 64 columns.
      EXPECT_EQ(is_compiled(tile, false, true), tile.n % 64 == 0) << tile.n;
    }
  };
  check(kFastTiles);
  check(kPingpongTiles);
  check(kPromotedTiles);
}

TEST(ChooseTile, SmallProductsTakeTilesThatOccupyMoreSms) {
  const Verdict verdict =
      judge(kFastTiles, work_of({1024, 1024, 1024}, 2, 2, false), kActiveOnH100);
  EXPECT_LT(verdict.tile.n, 256);
  EXPECT_GE(schedule_tiles(verdict.tile, 1, 1024, 1024).count(), 64);
}

TEST(ChooseTile, ATinyProductTakesOneSmallTile) {
  for (const ActiveClusters& active : {ActiveClusters{1, 0, 0}, kActiveOnH100}) {
    const Verdict verdict = judge(kFastTiles, work_of({1, 1, 1}, 2, 2, false), active);
    EXPECT_EQ(verdict.tile.n, 64);
  }
}

TEST(ChooseTile, TakesOnlyClustersThatTheDeviceHolds) {
  const ProductWork work = work_of({8192, 8192, 8192}, 2, 2, false);
  EXPECT_EQ(judge(kFastTiles, work, {1, 0, 0}).cluster, 1);
  EXPECT_EQ(judge(kFastTiles, work, {0, 0, 1}).cluster, 4);
  EXPECT_EQ(choose_tile(kFastTiles, work, {0, 0, 0}).cluster, 1);
}

}  // namespace
}  // namespace ridgebench::cuda
