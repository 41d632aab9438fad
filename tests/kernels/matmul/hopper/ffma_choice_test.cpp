// The choice of ffma_tma's tile.
#include "kernels/matmul/hopper/ffma_choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ridgebench::cuda {
namespace {

constexpr int kH100Sms = 132;

// Share of the multiply-adds that the device could do in the clocks of a tile.
double share(TileShape tile, std::int64_t side) {
  const double clocks = ffma_clocks(tile, side, side, side, kH100Sms);
  return static_cast<double>(side * side * side) / (clocks * 128 * kH100Sms);
}

TEST(FfmaChoice, SmallProductsTakeTheSmallTile) {
  EXPECT_EQ(choose_ffma_tile(1024, 1024, 1024, kH100Sms).choice(), "tile 64x128");
  EXPECT_GE(share(kFfmaTiles[1], 1024), 0.7);
  EXPECT_LE(share(kFfmaTiles[0], 1024), 0.25);  // 32 tiles
}

TEST(FfmaChoice, LargeProductsTakeTheLargeTile) {
  for (const std::int64_t side : {2048, 4096, 8192}) {
    EXPECT_EQ(choose_ffma_tile(side, side, side, kH100Sms).choice(), "tile 128x256") << side;
    EXPECT_GE(share(kFfmaTiles[0], side), 0.8) << side;
  }
}

TEST(FfmaChoice, NoOtherTileIsFaster) {
  for (const std::int64_t m : {1, 100, 700, 1536, 5000}) {
    for (const std::int64_t n : {64, 900, 4096, 10000}) {
      const double chosen =
          ffma_clocks(choose_ffma_tile(m, n, 512, kH100Sms).shape, m, n, 512, kH100Sms);
      for (const TileShape tile : kFfmaTiles) {
        EXPECT_LE(chosen, ffma_clocks(tile, m, n, 512, kH100Sms)) << m << " x " << n;
      }
    }
  }
}

}  // namespace
}  // namespace ridgebench::cuda
