// Block-scaled products with one mistake each in what a consumer does with the scales, and the
// correct form: the kernel of wgmma_persistent.cuh, in every tile, on shapes of whole blocks and of
// parts.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/matmul/hopper/block_scales.cuh"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/exact_products.hpp"
#include "tests/emulator/in_every_order.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator {
enum class ScaleMistake {
  none,
  stage_before,   // the scales of the first block of k for all
  stage_after,    // those of the next block, loaded before the sums are added
  swapped_rows,   // of the two rows of a thread
  other_columns,  // of the first block of columns for all
  early_exit,     // the last stage is not added
};

// Takes the place of BlockScales.
template <ScaleMistake kMistake>
struct MistakenScales {
  cuda::BlockScales right;
};
}  // namespace ridgebench::emulator

namespace ridgebench::cuda {

template <class Tile, emulator::ScaleMistake kMistake>
struct StagePromotion<Tile, emulator::MistakenScales<kMistake>>
    : StagePromotion<Tile, BlockScales> {
  using Right = StagePromotion<Tile, BlockScales>;
  using Mistake = emulator::ScaleMistake;

  __device__ explicit StagePromotion(const emulator::MistakenScales<kMistake>& all)
      : Right(all.right) {}

  __device__ void start_tile(int row, int column, int n, int stages_of_tile) {
    Right::start_tile(row, kMistake == Mistake::other_columns ? 0 : column, n, stages_of_tile);
    if constexpr (kMistake == Mistake::stage_after) Right::advance();
  }
  template <int kCount>
  __device__ void add(float (&d)[kCount], float (&part)[kCount], int sub_tile) {
    if (kMistake == Mistake::early_exit && this->block == this->stages) return;
    if constexpr (kMistake == Mistake::swapped_rows) {
      std::swap(this->a[sub_tile][0], this->a[sub_tile][1]);
    }
    Right::add(d, part, sub_tile);
  }
  __device__ void advance() {
    if constexpr (kMistake != Mistake::stage_before) Right::advance();
  }
};

}  // namespace ridgebench::cuda

namespace ridgebench::emulator {
namespace {

using exact_products::kSeedB;
using exact_products::number;
using exact_products::numbers;

// Powers of two with no pattern, so that every sum is exact.
float scale(std::int64_t i) { return std::exp2(static_cast<float>(number(i))); }

std::vector<float> scales(std::int64_t count, std::int64_t seed) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i) x.push_back(scale(i + seed));
  return x;
}

float exact(const Shape& s, std::int64_t i, std::int64_t j) {
  const std::int64_t k = s["k"];
  float sum = 0;
  for (std::int64_t block = 0; block < k; block += Fp32Scales::kBlock) {
    int part = 0;
    for (std::int64_t p = block; p < std::min(k, block + Fp32Scales::kBlock); ++p) {
      part += number(i * k + p) * number(j * k + p + kSeedB);
    }
    sum += static_cast<float>(part) * scale(Fp32Scales::index_a(i, block, s["m"], k)) *
           scale(Fp32Scales::index_b(j, block, s["n"], k) + kSeedB);
  }
  return decode(encode<Bf16>(sum));
}

// Elements of C that are wrong or NaN, with one tile and cluster; -1 after a fault.
template <ScaleMistake kMistake>
int wrong_elements(const Shape& shape, cuda::TileChoice choice) {
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  const std::int64_t k = shape["k"];
  const std::vector<Fp8E4m3> a = numbers<Fp8E4m3>(m * k, 0);
  const std::vector<Fp8E4m3> b = numbers<Fp8E4m3>(n * k, kSeedB);
  const std::vector<float> of_a = scales(Fp32Scales::count_a(m, k), 0);
  const std::vector<float> of_b = scales(Fp32Scales::count_b(n, k), kSeedB);
  HostQueue queue;
  const auto c = std::static_pointer_cast<Bf16>(
      queue.allocate(static_cast<std::size_t>(m * n) * sizeof(Bf16)));
  const MistakenScales<kMistake> all{{of_a.data(), of_b.data(), m, k}};
  const std::string fault = fault_of([&] {
    cuda::bind_choice<cuda::PromotedTiles, Layout::nt>(
        queue, cuda::Product(shape, a.data(), b.data(), c.get()), choice, all)();
  });
  if (!fault.empty()) return -1;
  int wrong = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      wrong += decode(c.get()[i * n + j]) == exact(shape, i, j) ? 0 : 1;
    }
  }
  return wrong;
}

Shape shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return Shape({{"m", m}, {"n", n}, {"k", k}});
}

class BlockScaled : public ::testing::Test {
 protected:
  void SetUp() override { set_compute_capability(90); }
};

// One block of k to more than the ring has stages, whole blocks and parts of one in m, n and k.
TEST_F(BlockScaled, EveryTileAndClusterIsExactOnWholeAndPartialBlocks) {
  for (const Shape& shape : {shape_of(256, 256, 512), shape_of(70, 136, 80),
                             shape_of(265, 264, 656), shape_of(3, 8, 400)}) {
    SCOPED_TRACE(shape.text());
    for (std::size_t tile = 0; tile < cuda::PromotedTiles::kShapes.size(); ++tile) {
      for (const int cluster : {1, 2}) {
        const cuda::TileChoice choice{.tile = tile, .cluster = cluster};
        EXPECT_EQ(wrong_elements<ScaleMistake::none>(shape, choice), 0) << tile << ' ' << cluster;
      }
    }
  }
}

TEST_F(BlockScaled, IsExactInEveryOrderOfTheThreads) {
  const auto wrong = [] {
    return wrong_elements<ScaleMistake::none>(shape_of(265, 264, 656), {.tile = 0, .cluster = 2});
  };
  EXPECT_EQ(in_every_order(wrong), (std::array{0, 0, 0}));
}

template <ScaleMistake kMistake>
void expect_seen() {
  for (const std::size_t tile : {std::size_t{0}, std::size_t{1}}) {
    const cuda::TileChoice choice{.tile = tile, .cluster = 1};
    EXPECT_NE(wrong_elements<kMistake>(shape_of(133, 264, 528), choice), 0) << tile;
  }
}

TEST_F(BlockScaled, EveryMistakeShows) {
  expect_seen<ScaleMistake::stage_before>();
  expect_seen<ScaleMistake::stage_after>();
  expect_seen<ScaleMistake::swapped_rows>();
  expect_seen<ScaleMistake::other_columns>();
  expect_seen<ScaleMistake::early_exit>();
}

}  // namespace
}  // namespace ridgebench::emulator
