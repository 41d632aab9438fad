// The division of a product with few rows among blocks: plain arithmetic.
#include "kernels/matmul/hopper/split_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "kernels/common/cuda/ptx/wgmma_layout.hpp"

namespace ridgebench::cuda {
namespace {

constexpr int kMostBlocks = 8;
constexpr int kH100 = 132;

TEST(SplitK, RangesFollowEachOtherAndAreEven) {
  for (const int stages : {1, 5, 8, 127, 512}) {
    for (const unsigned size : {1U, 2U, 4U, 8U}) {
      int next = 0;
      int least = stages;
      int most = 0;
      for (unsigned rank = 0; rank < size; ++rank) {
        const StageRange range = split_k_range(stages, rank, size);
        EXPECT_EQ(range.first, next);
        next += range.count;
        least = std::min(least, range.count);
        most = std::max(most, range.count);
      }
      EXPECT_EQ(next, stages);
      EXPECT_LE(most - least, 1);
    }
  }
}

TEST(SplitK, OccupiesTheSmsAndLeavesEachBlockFourStages) {
  EXPECT_EQ(split_k_blocks(128, 128, 264, 8), 2);  // 8192 columns in bf16
  EXPECT_EQ(split_k_blocks(16, 128, 264, 8), 8);
  EXPECT_EQ(split_k_blocks(512, 128, 264, 8), 1);
  EXPECT_EQ(split_k_blocks(16, 7, 264, 8), 1);  // two parts of fewer than four stages
  EXPECT_EQ(split_k_blocks(16, 16, 264, 8), 4);
}

TEST(SplitK, TakesWideBlocksWhereAIsLargeAndEverySmHasOne) {
  const auto columns = [](int m, int n) { return split_k_columns(m, n, 128, kH100, kMostBlocks); };
  EXPECT_EQ(columns(16, 8192), 64);
  EXPECT_EQ(columns(32, 8192), 64);
  EXPECT_EQ(columns(33, 8192), 128);
  EXPECT_EQ(columns(64, 8192), 128);
  EXPECT_EQ(columns(64, 2048), 64);  // 16 clusters of eight wide blocks leave four SMs without one
  EXPECT_EQ(columns(64, 2176), 128);
  EXPECT_EQ(split_k_columns(64, 8192, 7, kH100, kMostBlocks), 64);  // k too short to split
}

TEST(SplitK, ChoosesThePartOfABlockAndItsTraffic) {
  const SplitKChoice few = choose_split_k(16, 8192, 128, kH100);
  EXPECT_EQ(few.choice(), "tile 16x64, k in 2 parts");
  EXPECT_EQ(choose_split_k(64, 8192, 128, kH100).choice(), "tile 64x128, k in 4 parts");
  EXPECT_EQ(choose_split_k(512, 512, 256, kH100).choice(), "tile 128x128, k in 8 parts");
  const Shape shape({{"m", 16}, {"n", 8192}, {"k", 4096}}, Layout::nt);
  const ModelTraffic traffic = few.traffic(Machine{}, shape, Format::bf16);
  EXPECT_EQ(traffic.l2_to_sm_bytes, 2 * 4096.0 * (8192 + 128 * 16)) << "A for each 64 columns";
  EXPECT_EQ(traffic.dram_bytes, 2 * (4096.0 * (8192 + 16) + 16 * 8192));
}

// Bytes that L2 delivers for each byte of B, where A has as many bytes per row and B comes once.
TEST(SplitK, L2DeliversAtMostOneAndAHalfTimesB) {
  for (const int m : {1, 16, 32, 33, 64}) {
    for (const int n : {4096, 8192, 16384, 28672}) {
      const int columns = split_k_columns(m, n, 128, kH100, kMostBlocks);
      EXPECT_LE(1 + double(m) / columns, 1.5) << m << " x " << n;
    }
  }
}

ProductWork work_in_bf16(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = m, .n = n, .stages = (k + 63) / 64, .epilogue_clocks = epilogue_clocks(2, false)};
}

TEST(SplitK, PaysForASmallCOfALongK) {
  EXPECT_TRUE(split_k_pays(work_in_bf16(512, 512, 16384), kH100));
  EXPECT_TRUE(split_k_pays(work_in_bf16(300, 1000, 8192), kH100));
  EXPECT_FALSE(split_k_pays(work_in_bf16(512, 512, 512), kH100));     // the sums cost more
  EXPECT_FALSE(split_k_pays(work_in_bf16(1024, 1024, 1024), kH100));  // 128 tiles of 128 x 64
  EXPECT_FALSE(split_k_pays(work_in_bf16(2048, 2048, 2048), kH100));
  EXPECT_FALSE(split_k_pays(work_in_bf16(8192, 8192, 8192), kH100));
  EXPECT_FALSE(split_k_pays(work_in_bf16(1 << 30, 8, 8192), kH100));
}

// By hand: 16 tiles, each of eight blocks with 32 of 256 stages, which 128 SMs take at once. L2
// delivers 256 rows of 128 bytes for a stage, 54.1 bytes per clock to each of these SMs.
TEST(SplitK, ClocksAreThoseOfAPartOfKAndOfTheSums) {
  EXPECT_NEAR(split_k_clocks(work_in_bf16(512, 512, 16384), kH100),
              32 * 256 * 128 / (132 * 52.5 / 128) + 6000, 1);
  EXPECT_EQ(split_k_clocks(work_in_bf16(4096, 4096, 16384), kH100), 0);  // 1024 tiles
}

// Whatever the shape: where k is split, the tiles of the best product leave more than a tenth of
// the SMs idle.
TEST(SplitK, PaysOnlyWhereTilesLeaveSmsIdle) {
  int splits = 0;
  for (std::int64_t m = 65; m < 5000; m = m * 3 / 2 + 1) {
    for (std::int64_t n = 64; n < 5000; n = n * 3 / 2 + 8) {
      for (const std::int64_t k : {512, 2048, 8192, 32768}) {
        const ProductWork work = work_in_bf16(m, n, k);
        if (!split_k_pays(work, kH100)) continue;
        ++splits;
        const TileChoice choice = choose_tile(kFastTiles, work, {kH100, kH100 / 2, kH100 / 4});
        const TileShape tile = kFastTiles[choice.tile];
        const int tiles =
            choice.cluster * schedule_tiles(tile, choice.cluster, work.m, work.n).count();
        const int waves = (tiles + kH100 - 1) / kH100;
        EXPECT_LT(tiles, 0.9 * waves * kH100) << m << " x " << n << " x " << k;
      }
    }
  }
  EXPECT_GT(splits, 20);
}

// Clocks of one access of a warp, of which 128 bytes take one, by the busiest of the 32 banks.
int clocks(const std::array<int, 32>& first_word, int words) {
  int all = 0;
  const int lanes = 32 / words;  // that a clock serves
  for (int start = 0; start < 32; start += lanes) {
    std::array<int, 32> uses{};
    for (int lane = start; lane < start + lanes; ++lane) {
      for (int w = 0; w < words; ++w) ++uses[(first_word[lane] + w) % 32];
    }
    all += *std::ranges::max_element(uses);
  }
  return all;
}

TEST(SplitK, SumsAreWrittenWithoutBankConflicts) {
  for (const int columns : {64, 128}) {
    for (int i = 0; i < 32; ++i) {
      std::array<int, 32> word{};
      for (int lane = 0; lane < 32; ++lane) {
        word[lane] =
            accumulator_column(lane, i) * split_k_pitch(columns) + accumulator_row(lane, i);
      }
      EXPECT_EQ(clocks(word, 1), 1);
    }
  }
}

// A thread reads four numbers. Two threads want the same bank where a block's share of a row has
// fewer than 32.
TEST(SplitK, SumsAreReadWithAtMostTwoConflictingThreads) {
  for (const int columns : {64, 128}) {
    for (const int blocks : {1, 2, 4, 8}) {
      const int vectors = columns / blocks / 4;
      std::array<int, 32> word{};
      for (int lane = 0; lane < 32; ++lane) {
        word[lane] = lane / vectors * split_k_pitch(columns) + lane % vectors * 4;
      }
      EXPECT_LE(clocks(word, 4), vectors >= 8 ? 4 : 8) << columns << ", " << blocks;
    }
  }
}

}  // namespace
}  // namespace ridgebench::cuda
