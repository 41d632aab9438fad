// Two sets of temporary sums in turn, as in multiply_tile_promoted: kernels with one mistake each,
// and the correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/matmul/hopper/wgmma_persistent.cuh"
#include "tests/emulator/hopper/exact_products.hpp"
#include "tests/emulator/in_every_order.hpp"
#include "tests/support/host_queue.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::kBoxBytes;
using cuda::kWarp;
using cuda::kWarpgroup;
using exact_products::exact_sum;
using exact_products::kSeedB;
using exact_products::numbers;

enum class Turns { right, no_wait, newest_sums, early_release, kept_sums };

// One consumer, boxes of 64 rows of A and of 64 columns of B, and a ring of two stages.
constexpr int kRingStages = 2;
constexpr int kColumns = cuda::kBoxRows;
constexpr int kRows = cuda::kBoxRows;
constexpr int kStageK = cuda::kBlockK<Bf16>;

struct Ring {
  std::byte stage[kRingStages][2 * kBoxBytes];
  cuda::TmaPipeline<kRingStages> pipeline;
};

template <Turns kTurns>
__device__ void add_in_turns(float (&sum)[1][kColumns / 2], Ring& ring, int stages) {
  float part[2][1][kColumns / 2];
  cuda::PipelineState<kRingStages> state;
  cuda::clear(sum);
  cuda::clear(part[0]);
  cuda::clear(part[1]);
  const auto finish = [&](int i) {
    const int turn = kTurns == Turns::newest_sums ? (i + 1) % 2 : i % 2;
    ring.pipeline.consumer_release((kTurns == Turns::early_release ? i + 1 : i) % kRingStages);
    cuda::promote(sum[0], part[turn][0]);
  };
  for (int i = 0; i < stages; ++i, state.advance()) {
    const std::byte* const boxes = ring.stage[state.stage];
    ring.pipeline.consumer_wait(state);
    cuda::multiply_stage<Layout::nt, Bf16, Bf16>(part[i % 2], boxes, boxes + kBoxBytes,
                                                 kTurns == Turns::kept_sums);
    if (kTurns != Turns::no_wait) cuda::warpgroup_wait<1>();
    if (i > 0) finish(i - 1);
  }
  cuda::warpgroup_wait<0>();
  finish(stages - 1);
}

template <Turns kTurns>
__global__ void multiply_in_turns(const __grid_constant__ cuda::TensorMap a,
                                  const __grid_constant__ cuda::TensorMap b, int stages, float* c) {
  alignas(1024) extern __shared__ std::byte memory[];
  Ring& ring = *reinterpret_cast<Ring*>(memory);
  if (threadIdx.x == 0) ring.pipeline.init(kWarpgroup / kWarp);
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    float sum[1][kColumns / 2];
    add_in_turns<kTurns>(sum, ring, stages);
    for (int i = 0; i < kColumns / 2; ++i) {
      c[cuda::accumulator_row(i) * kColumns + cuda::accumulator_column(i)] = sum[0][i];
    }
  } else if (threadIdx.x == kWarpgroup) {
    cuda::PipelineState<kRingStages> state;
    for (int i = 0; i < stages; ++i, state.advance()) {
      std::byte* const boxes = ring.stage[state.stage];
      cuda::Barrier& full = ring.pipeline.producer_acquire(state, 2 * kBoxBytes);
      cuda::tma_load_2d(boxes, a, i * kStageK, 0, full);
      cuda::tma_load_2d(boxes + kBoxBytes, b, i * kStageK, 0, full);
    }
  }
}

// Products that are wrong or NaN; -1 after a Fault.
template <Turns kTurns>
int wrong_sums() {
  constexpr int stages = 5;
  constexpr int k = stages * kStageK;
  const std::vector<Bf16> a = numbers<Bf16>(kRows * k, 0);
  const std::vector<Bf16> b = numbers<Bf16>(kColumns * k, kSeedB);
  const auto map = [](const std::vector<Bf16>& x) {
    return cuda::tensor_map(x.data(), kRows, k, cuda::kBoxRows, kStageK, cuda::Swizzle::bytes_128);
  };
  std::vector<float> c(kRows * kColumns, NAN);
  constexpr auto kernel = multiply_in_turns<kTurns>;
  cuda::set_max_dynamic_shared_bytes(kernel, sizeof(Ring));
  const std::string fault = fault_of(
      [&] { kernel<<<1, kWarpgroup + kWarp, sizeof(Ring)>>>(map(a), map(b), stages, c.data()); });
  if (!fault.empty()) return -1;
  int wrong = 0;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const auto exact = static_cast<float>(exact_sum(i, j, k));
      wrong += c[static_cast<std::size_t>(i * kColumns + j)] == exact ? 0 : 1;
    }
  }
  return wrong;
}

TEST(TemporarySums, TwoSetsInTurnGiveTheExactSum) {
  EXPECT_EQ(in_every_order(wrong_sums<Turns::right>), (std::array{0, 0, 0}));
}

TEST(TemporarySums, EveryMistakeShows) {
  EXPECT_NE(in_every_order(wrong_sums<Turns::no_wait>), (std::array{0, 0, 0}));
  EXPECT_NE(in_every_order(wrong_sums<Turns::newest_sums>), (std::array{0, 0, 0}));
  EXPECT_NE(in_every_order(wrong_sums<Turns::early_release>), (std::array{0, 0, 0}));
  EXPECT_NE(in_every_order(wrong_sums<Turns::kept_sums>), (std::array{0, 0, 0}));
}

// Elements of C that are not the exact sum, rounded once, over all promoted tiles.
int wrong_in_every_tile(int k) {
  constexpr int m = 300;
  constexpr int n = 264;
  const Shape shape({{"m", m}, {"n", n}, {"k", k}});
  const std::vector<Fp8E4m3> a = numbers<Fp8E4m3>(m * k, 0);
  const std::vector<Fp8E4m3> b = numbers<Fp8E4m3>(n * k, kSeedB);
  std::vector<float> exact;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      exact.push_back(decode(encode<Bf16>(static_cast<float>(exact_sum(i, j, k)))));
    }
  }
  HostQueue queue;
  int wrong = 0;
  for (std::size_t tile = 0; tile < cuda::PromotedTiles::kShapes.size(); ++tile) {
    const auto c = std::static_pointer_cast<Bf16>(queue.allocate(m * n * sizeof(Bf16)));
    const auto choice = cuda::chosen<cuda::PromotedTiles>({.tile = tile, .cluster = 2});
    cuda::bind_plain<cuda::PromotedTiles>(queue, choice, shape, a.data(), b.data(), c.get())();
    for (std::size_t i = 0; i < exact.size(); ++i) {
      wrong += decode(c.get()[i]) == exact[i] ? 0 : 1;
    }
  }
  return wrong;
}

// One stage to twice those of the ring, and even and odd numbers: 256 x 128 orders its consumers
// from four stages on, and smaller tiles add two stages in an iteration.
TEST(PromotedProducts, AreExactForFewAndManyStages) {
  set_compute_capability(90);
  for (const int stages : {1, 2, 3, 4, 5, 9}) {
    SCOPED_TRACE(stages);
    const auto wrong = [&] { return wrong_in_every_tile((stages - 1) * 128 + 80); };
    EXPECT_EQ(in_every_order(wrong), (std::array{0, 0, 0}));
  }
}

}  // namespace
}  // namespace ridgebench::emulator
