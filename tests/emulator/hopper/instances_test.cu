// Every tile and cluster that the persistent product is compiled for, on integer matrices that no
// tile divides, must give the exact product.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/exact_products.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::FastTiles;
using cuda::PromotedTiles;
using exact_products::expect_exact_products;

class Instances : public ::testing::Test {
 protected:
  void SetUp() override { set_compute_capability(90); }
};

TEST_F(Instances, MultiplyBf16InEveryLayout) {
  for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
    SCOPED_TRACE(static_cast<int>(layout));
    expect_exact_products<FastTiles, Bf16, Bf16>(layout);
  }
}
TEST_F(Instances, MultiplyFp16) { expect_exact_products<FastTiles, Fp16, Fp16>(Layout::nt); }
TEST_F(Instances, MultiplyTf32) { expect_exact_products<FastTiles, Tf32, Tf32>(Layout::nt); }
TEST_F(Instances, MultiplyFp8) {
  expect_exact_products<FastTiles, Fp8E4m3, Bf16>(Layout::nt);
  expect_exact_products<FastTiles, Fp8E5m2, Bf16>(Layout::nt);
}
// A slice of a GPU may be too small for a cluster of four, or for any.
TEST_F(Instances, ChooseOnlyClustersThatTheDeviceHolds) {
  const Shape large({{"m", 4096}, {"n", 4096}, {"k", 4096}}, Layout::nt);
  HostQueue queue;
  for (const int sms : {1, 2, 3, 7}) {
    set_multiprocessors(sms);
    EXPECT_EQ(cuda::active_clusters(), (cuda::ActiveClusters{sms, sms / 2, sms / 4}));
    const auto choice = cuda::prepare_choice<FastTiles, false, Bf16, Bf16, Bf16>(queue, large);
    EXPECT_LE(choice.cluster, sms);
  }
  set_multiprocessors(0);
  const auto choice = cuda::prepare_choice<FastTiles, false, Bf16, Bf16, Bf16>(queue, large);
  std::string reason;
  try {
    cuda::bind_plain<FastTiles, Bf16, Bf16, Bf16>(queue, choice, large, nullptr, nullptr, nullptr);
  } catch (const Unsupported& error) {
    reason = error.what();
  }
  set_multiprocessors(kMultiprocessors);
  EXPECT_NE(reason.find("the device holds no cluster of 1 blocks"), std::string::npos) << reason;
}
// A user names a choice, so no two may have one name.
template <class List>
void expect_own_names() {
  std::set<std::string> names;
  for (const auto& choice : cuda::all_choices<List>()) names.insert(choice.name());
  EXPECT_EQ(names.size(),
            List::kShapes.size() * (cuda::kClusters.size() + cuda::kOtherGroupRows.size()));
  const auto& first = List::kShapes[0];
  EXPECT_TRUE(names.contains("tile=" + std::to_string(first.m) + "x" + std::to_string(first.n) +
                             ",cluster=2"));
}
TEST_F(Instances, HaveNamesOfTheirOwn) {
  expect_own_names<FastTiles>();
  expect_own_names<PromotedTiles>();
}
// Groups of rows that divide C, and a last group that is smaller.
TEST_F(Instances, MultiplyInEveryRaster) {
  for (const int rows : {256, 512, 1024}) {
    SCOPED_TRACE(rows);
    const cuda::TileChoice choice{.tile = 5, .cluster = 2, .group_rows = rows};
    const auto wrong = exact_products::wrong_elements<FastTiles, Bf16, Bf16>(Layout::nt, choice);
    EXPECT_EQ(wrong, 0);
  }
}
// The choice of a user may name a tile that is not compiled for the layout or the formats.
TEST_F(Instances, RefuseATileThatIsNotCompiled) {
  constexpr std::size_t wide = 1;  // of 224 columns
  const Shape shape({{"m", 256}, {"n", 256}, {"k", 64}}, Layout::nn);
  HostQueue queue;
  std::string reason;
  try {
    cuda::bind_plain<FastTiles, Bf16, Bf16, Bf16>(
        queue, cuda::chosen<FastTiles>({.tile = wide, .cluster = 1}), shape, nullptr, nullptr,
        nullptr);
  } catch (const Unsupported& error) {
    reason = error.what();
  }
  EXPECT_EQ(reason,
            "a tile of 224 columns is compiled for layout nt in tf32, fp16, bf16 and fp8_e4m3 "
            "only");
  EXPECT_EQ((cuda::compiled_tiles<FastTiles, Bf16, Bf16>(Layout::nn)),
            (std::vector<std::size_t>{0, 2, 4, 5, 6}));
  EXPECT_EQ((cuda::compiled_tiles<FastTiles, Fp8E4m3, Fp8E5m2>(Layout::nt)),
            (std::vector<std::size_t>{0, 2, 4, 5, 6}));
  EXPECT_EQ((cuda::compiled_tiles<FastTiles, Fp8E4m3, Fp8E4m3>(Layout::nt).size()), 7);
}
TEST_F(Instances, PromoteFp8) { expect_exact_products<PromotedTiles, Fp8E4m3, Bf16>(Layout::nt); }

// 8192 cubed in bf16 with 128 x 192: docs/kernel_models.md has both numbers.
TEST_F(Instances, ExpectTheTrafficOfTheirTile) {
  constexpr std::int64_t kSide = 8192;
  const Shape shape({{"m", kSide}, {"n", kSide}, {"k", kSide}}, Layout::nt);
  Machine h100;
  h100.caches = {{2, std::int64_t{50} << 20U, 132}};
  cuda::ChosenTile choice{{.tile = 0, .cluster = 2}, {128, 192}};
  const ModelTraffic expected = choice.traffic(h100, shape, Format::bf16);
  EXPECT_NEAR(expected.dram_bytes, 805e6, 1e6);
  // 43 tiles of 192 columns hold 8256.
  EXPECT_NEAR(expected.l2_to_sm_bytes, 9.11e-3 * 2 * kSide * kSide * 8256, 1e8);
  choice.group_rows = 4096;
  EXPECT_NEAR(choice.traffic(h100, shape, Format::bf16).dram_bytes, 537e6, 1e6);
  EXPECT_EQ(choice.traffic(h100, shape, Format::bf16).l2_to_sm_bytes, expected.l2_to_sm_bytes);
}

}  // namespace
}  // namespace ridgebench::emulator
