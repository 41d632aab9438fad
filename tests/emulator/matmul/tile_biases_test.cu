// The biases of a tile in shared memory: kernels with one mistake each, their correct form, and
// every tile with GeLU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/common/gelu_reference.hpp"
#include "kernels/matmul/hopper/wgmma_persistent.cuh"
#include "tests/emulator/hopper/exact_products.hpp"
#include "tests/emulator/in_every_order.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::kWarpgroup;
using exact_products::exact_sum;
using exact_products::kSeedB;
using exact_products::numbers;

enum class Biases { right, no_wait, no_barrier_before, no_barrier_after };

using Tile = cuda::PersistentTile<128, 256>;

// A consumer reads the biases of two tiles, as store_tile does.
template <Biases kBiases>
__global__ void read_biases(cuda::BiasGelu<float> all, int n, float* seen) {
  __shared__ alignas(16) cuda::TileBiases<Tile> shared;
  const cuda::TileEpilogue<Tile, cuda::BiasGelu<float>> epilogue(all, shared);
  for (int column = 0; column < n; column += Tile::kBlockN) {
    epilogue.load(column, n);
    if (kBiases != Biases::no_wait) epilogue.wait();
    if (kBiases != Biases::no_barrier_before) cuda::named_barrier_sync(1);
    const int own = static_cast<int>(kWarpgroup - 1 - threadIdx.x) * 2;  // copied by another thread
    const auto pair = epilogue.biases(own);
    seen[column + own] = pair.first;
    seen[column + own + 1] = pair.second;
    if (kBiases != Biases::no_barrier_after) cuda::named_barrier_sync(1);
  }
}

template <Biases kBiases>
int wrong_biases() {
  constexpr int n = Tile::kBlockN + 20;
  alignas(16) std::array<float, n> bias{};
  std::iota(bias.begin(), bias.end(), 1.0F);
  std::vector<float> seen(2 * Tile::kBlockN, NAN);
  const std::string fault = fault_of([&] {
    read_biases<kBiases><<<1, kWarpgroup>>>(cuda::BiasGelu<float>{bias.data()}, n, seen.data());
  });
  if (!fault.empty()) return -1;
  int wrong = 0;
  for (int i = 0; i < 2 * Tile::kBlockN; ++i) {
    const float expected = i < n ? static_cast<float>(i + 1) : 0;
    wrong += seen[static_cast<std::size_t>(i)] == expected ? 0 : 1;
  }
  return wrong;
}

TEST(TileBiases, ArriveBeforeTheyAreReadAndStayUntilThen) {
  EXPECT_EQ(in_every_order(wrong_biases<Biases::right>), (std::array{0, 0, 0}));
}

TEST(TileBiases, EveryMistakeShows) {
  EXPECT_NE(in_every_order(wrong_biases<Biases::no_wait>), (std::array{0, 0, 0}));
  EXPECT_NE(in_every_order(wrong_biases<Biases::no_barrier_before>), (std::array{0, 0, 0}));
  EXPECT_NE(in_every_order(wrong_biases<Biases::no_barrier_after>), (std::array{0, 0, 0}));
}

// The last tile of a C with almost 2^31 columns: a column behind it is beyond an int.
using LastTile = cuda::PersistentTile<128, 192>;
constexpr int kLastColumn = 0x7fffffff / LastTile::kBlockN * LastTile::kBlockN;
constexpr int kLastWidth = 120;

__global__ void read_last_biases(cuda::BiasGelu<float> all, float* seen) {
  __shared__ alignas(16) cuda::TileBiases<LastTile> shared;
  const cuda::TileEpilogue<LastTile, cuda::BiasGelu<float>> epilogue(all, shared);
  epilogue.load(kLastColumn, kLastColumn + kLastWidth);
  epilogue.wait();
  cuda::named_barrier_sync(1);
  const auto column = static_cast<int>(threadIdx.x) * 2;
  if (column < LastTile::kBlockN) seen[threadIdx.x] = epilogue.biases(column).first;
}

TEST(TileBiases, TheLastTileEndsAtTheLargestColumn) {
  alignas(16) std::array<float, kLastWidth> bias{};
  std::iota(bias.begin(), bias.end(), 1.0F);
  std::array<float, LastTile::kBlockN / 2> seen{};
  const auto first = reinterpret_cast<std::uintptr_t>(bias.data()) - sizeof(float) * kLastColumn;
  read_last_biases<<<1, kWarpgroup>>>(cuda::BiasGelu<float>{reinterpret_cast<float*>(first)},
                                      seen.data());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], i < kLastWidth / 2 ? static_cast<float>(2 * i + 1) : 0) << i;
  }
}

TEST(TileBiases, UnalignedOnesAreUnsupported) {
  const Shape shape({{"m", 8}, {"n", 8}, {"k", 8}});
  alignas(16) std::array<Bf16, 64> x{};
  alignas(16) std::array<Bf16, 64> c{};
  HostQueue queue;
  const auto choice = cuda::chosen<cuda::FastTiles>({.tile = 0, .cluster = 1});
  EXPECT_THROW(cuda::bind_gelu<cuda::FastTiles>(queue, choice, shape, x.data(), x.data(),
                                                x.data() + 1, c.data()),
               Unsupported);
}

int integer_bias(int column) { return column * 37 % 64 - 32; }

// Every tile of a list with GeLU, on a product that no tile divides.
template <class List, class T, class Out>
void expect_gelu_of_every_tile() {
  constexpr int m = 200;
  constexpr int n = 536;
  constexpr int k = 336;
  const Shape shape({{"m", m}, {"n", n}, {"k", k}});
  const std::vector<T> a = numbers<T>(m * k, 0);
  const std::vector<T> b = numbers<T>(n * k, kSeedB);
  std::vector<Out> bias;
  for (int j = 0; j < n; ++j) bias.push_back(encode<Out>(static_cast<float>(integer_bias(j))));
  std::vector<double> expected;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      expected.push_back(gelu_reference(exact_sum(i, j, k) + integer_bias(j)));
    }
  }
  HostQueue queue;
  for (std::size_t tile = 0; tile < List::kShapes.size(); ++tile) {
    SCOPED_TRACE(std::to_string(List::kShapes[tile].m) + " x " +
                 std::to_string(List::kShapes[tile].n));
    const auto c = std::static_pointer_cast<Out>(queue.allocate(m * n * sizeof(Out)));
    const auto choice = cuda::chosen<List>({.tile = tile, .cluster = cuda::kClusters.back()});
    cuda::bind_gelu<List>(queue, choice, shape, a.data(), b.data(), bias.data(), c.get())();
    int wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double rounding = 0.02 + std::abs(expected[i]) / 256;  // of bf16, and of the tanh
      wrong += std::abs(decode(c.get()[i]) - expected[i]) <= rounding ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(TileBiases, EveryTileAddsThoseOfItsColumns) {
  set_compute_capability(90);
  expect_gelu_of_every_tile<cuda::FastTiles, Bf16, Bf16>();
  expect_gelu_of_every_tile<cuda::FastTiles, Tf32, float>();
  expect_gelu_of_every_tile<cuda::PromotedTiles, Fp8E4m3, Bf16>();
}

}  // namespace
}  // namespace ridgebench::emulator
