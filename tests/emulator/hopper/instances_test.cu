// Every tile and cluster that the persistent product is compiled for, on integer matrices that no
// tile divides, must give the exact product.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/matmul/hopper/wgmma_persistent.cuh"
#include "tests/emulator/emulator.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::FastTiles;
using cuda::PromotedTiles;

// A width that is no power of two: three boxes of B.
using WideTiles = cuda::TileList<false, cuda::PersistentTile<128, 192>>;

constexpr std::int64_t kM = 400;  // two or more whole tiles of every size, and a part of one
constexpr std::int64_t kN = 536;
constexpr std::int64_t kK = 336;  // several trips round the ring of stages, and a part of a trip

// Small integers with no pattern that a wrong index could repeat.
int number(std::int64_t i) { return static_cast<int>((i * 2654435761U >> 13U) % 5) - 2; }

template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t seed) {
  std::vector<T> x;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(encode<T>(static_cast<float>(number(i + seed))));
  }
  return x;
}

// C of the operands in a layout.
std::vector<int> exact_product(Layout layout, std::int64_t seed_b) {
  const bool a_by_columns = layout == Layout::tn;
  const bool b_by_rows = layout != Layout::nt;
  std::vector<int> a(kM * kK);
  std::vector<int> b(kK * kN);
  for (std::int64_t i = 0; i < kM * kK; ++i) a[i] = number(i);
  for (std::int64_t i = 0; i < kK * kN; ++i) b[i] = number(i + seed_b);
  std::vector<int> c(kM * kN, 0);
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t j = 0; j < kN; ++j) {
      int sum = 0;
      for (std::int64_t p = 0; p < kK; ++p) {
        sum += a[a_by_columns ? p * kM + i : i * kK + p] * b[b_by_rows ? p * kN + j : j * kK + p];
      }
      c[i * kN + j] = sum;
    }
  }
  return c;
}

template <class List, class T, class Out>
void expect_exact_products(Layout layout) {
  constexpr std::int64_t seed_b = 77777;
  const Shape shape({{"m", kM}, {"n", kN}, {"k", kK}}, layout);
  const std::vector<T> a = numbers<T>(kM * kK, 0);
  const std::vector<T> b = numbers<T>(kK * kN, seed_b);
  const std::vector<int> exact = exact_product(layout, seed_b);
  HostQueue queue;
  for (std::size_t tile = 0; tile < List::kShapes.size(); ++tile) {
    for (const int cluster : cuda::kClusters) {
      SCOPED_TRACE(std::to_string(List::kShapes[tile].m) + " x " +
                   std::to_string(List::kShapes[tile].n) + ", clusters of " +
                   std::to_string(cluster));
      const auto memory = std::static_pointer_cast<Out>(queue.allocate(kM * kN * sizeof(Out)));
      const auto choice = cuda::chosen<List>({.tile = tile, .cluster = cluster});
      cuda::bind_plain<List>(queue, choice, shape, a.data(), b.data(), memory.get())();
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < kM * kN; ++i) {
        const Out rounded = encode<Out>(static_cast<float>(exact[i]));
        if (decode(memory.get()[i]) != decode(rounded)) ++wrong;
      }
      EXPECT_EQ(wrong, 0);
    }
  }
}

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
