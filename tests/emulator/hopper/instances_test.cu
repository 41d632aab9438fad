// Every tile and cluster that the persistent product is compiled for, on integer matrices that no
// tile divides, must give the exact product.
#include <gtest/gtest.h>

#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/exact_products.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::FastTiles;
using cuda::PromotedTiles;
using exact_products::expect_exact_products;

// Widths that are no power of two: three boxes of B, and two and a half.
using WideTiles =
    cuda::TileList<false, cuda::PersistentTile<128, 192>, cuda::PersistentTile<128, 160>>;

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
TEST_F(Instances, MultiplyByWidthsThatAreNoPowerOfTwo) {
  for (const Layout layout : {Layout::nt, Layout::nn, Layout::tn}) {
    SCOPED_TRACE(static_cast<int>(layout));
    expect_exact_products<WideTiles, Bf16, Bf16>(layout);
  }
  expect_exact_products<WideTiles, Fp16, Fp16>(Layout::nt);
  expect_exact_products<WideTiles, Tf32, Tf32>(Layout::nt);
  expect_exact_products<WideTiles, Fp8E4m3, Bf16>(Layout::nt);
  expect_exact_products<WideTiles, Fp8E5m2, Bf16>(Layout::nt);
}
TEST_F(Instances, PromoteFp8) { expect_exact_products<PromotedTiles, Fp8E4m3, Bf16>(Layout::nt); }

}  // namespace
}  // namespace ridgebench::emulator
