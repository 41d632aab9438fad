// wgmma_split_k with blocks of 128 columns, which need more columns than other tests have, and of
// 128 rows, and its parts in a kernel with one mistake each.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/matmul/hopper/split_k_parts.cuh"
#include "tests/emulator/fault_of.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench::emulator {
namespace {

namespace split_k {

using cuda::matmul_wgmma_split_k::kThreads;
using cuda::matmul_wgmma_split_k::Shared;

std::vector<std::byte> bytes_of(HostRun& run) {
  const auto* first = static_cast<const std::byte*>(run.output().data());
  return {first, first + static_cast<std::size_t>(run.output().operand().bytes())};
}

void expect_right(const Implementation& implementation, const Shape& shape) {
  SCOPED_TRACE(implementation.format.name() + " " + shape.text());
  HostRun run(implementation, shape);
  run.fill(Fill::normal);
  ASSERT_TRUE(run.launch());
  EXPECT_LE(run.verify().error, 1);
  const std::vector<std::byte> first = bytes_of(run);
  set_order(Order::descending);
  run.launch();
  EXPECT_EQ(bytes_of(run), first) << "another order of the threads gives other bits";
  run.fill(Fill::integers);
  set_order(Order::hesitant);
  run.launch();
  set_order(Order::ascending);
  EXPECT_TRUE(run.verify().exact);
}

constexpr int kM = 40;
constexpr int kN = 64;
constexpr int kK = 1536;  // twelve stages for each of two blocks, twice round the ring
constexpr int kStages = kK / cuda::kBlockK<Bf16>;

enum class Mistake { none, own_stage_released, no_proper_end, no_cluster_sync };

template <Mistake kMistake>
__global__ void multiply(const __grid_constant__ cuda::TensorMap a,
                         const __grid_constant__ cuda::TensorMap b, float* c) {
  alignas(1024) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<Shared<1>*>(memory);
  auto* const part = reinterpret_cast<float*>(memory);
  const cuda::StageRange own =
      cuda::split_k_range(kStages, cuda::cluster_ctarank(), cuda::cluster_nctarank());
  if (threadIdx.x == 0) shared.pipeline.init(cuda::kWarpgroup / cuda::kWarp);
  __syncthreads();
  cuda::PipelineState<Shared<1>::kStages> state;
  if (threadIdx.x == cuda::kWarpgroup) {
    for (int i = own.first; i < own.first + own.count; ++i, state.advance()) {
      std::byte* const boxes = shared.stage[state.stage];
      cuda::Barrier& full = shared.pipeline.producer_acquire(state, Shared<1>::kStageBytes);
      cuda::load_operand<true, 1>(boxes, b, 0, i * cuda::kBlockK<Bf16>, full);
      cuda::load_operand<true, 1>(boxes + Shared<1>::kOffsetA, a, 0, i * cuda::kBlockK<Bf16>, full);
    }
  } else if (threadIdx.x < cuda::kWarpgroup) {
    cuda::Accumulators<1, 64> d;
    int before = 0;
    for (int i = 0; i < own.count; ++i, state.advance()) {
      const std::byte* const boxes = shared.stage[state.stage];
      shared.pipeline.consumer_wait(state);
      cuda::multiply_stage<Layout::nt, Bf16, Bf16>(d, boxes, boxes + Shared<1>::kOffsetA, i > 0);
      cuda::warpgroup_wait<1>();
      if (kMistake == Mistake::own_stage_released) {
        shared.pipeline.consumer_release(state.stage);
      } else if (i > 0) {
        shared.pipeline.consumer_release(before);
      }
      before = state.stage;
    }
    if (kMistake != Mistake::no_proper_end) cuda::warpgroup_wait<0>();
    cuda::named_barrier_sync(1);
    cuda::matmul_wgmma_split_k::write_part<1, 64>(part, d);
  }
  __syncwarp();
  if (kMistake != Mistake::no_cluster_sync) cuda::cluster_sync();
  cuda::matmul_wgmma_split_k::store_share<1>(part, c, kM, kN, 0, true);
  cuda::cluster_sync_relaxed();
}

// A fault, or a wrong sum.
template <Mistake kMistake>
std::string found(Order order) {
  std::vector<Bf16> a, b;
  const auto square_modulo = [](int i, int m) { return static_cast<float>(i % m * (i % m) % m); };
  for (int i = 0; i < kM * kK; ++i) a.push_back(encode<Bf16>(square_modulo(i, 7) - 3));
  for (int i = 0; i < kN * kK; ++i) b.push_back(encode<Bf16>(square_modulo(i, 5) - 2));
  std::vector<float> c(kM * kN);
  const auto map = [](const std::vector<Bf16>& x, int rows) {
    return cuda::tensor_map(x.data(), rows, kK, cuda::kBoxRows, cuda::kBlockK<Bf16>,
                            cuda::Swizzle::bytes_128);
  };
  constexpr auto kernel = multiply<kMistake>;
  constexpr int shared = sizeof(Shared<1>);
  cuda::set_max_dynamic_shared_bytes(kernel, shared);
  const cuda::ClusterGrid grid{.blocks = dim3(2),
                               .threads = kThreads,
                               .shared_bytes = shared,
                               .stream = nullptr,
                               .cluster = 2};
  set_order(order);
  std::string text =
      fault_of([&] { cuda::launch(kernel, grid, map(a, kM), map(b, kN), c.data()); });
  set_order(Order::ascending);
  for (int i = 0; text.empty() && i < kM * kN; ++i) {
    float sum = 0;
    for (int k = 0; k < kK; ++k) sum += decode(a[i / kN * kK + k]) * decode(b[i % kN * kK + k]);
    if (c[i] != sum) text = "a wrong sum";
  }
  return text;
}

template <Mistake kMistake>
bool in_any_order() {
  return !found<kMistake>(Order::ascending).empty() ||
         !found<kMistake>(Order::descending).empty() || !found<kMistake>(Order::hesitant).empty();
}

}  // namespace split_k

TEST(SplitK, BlocksOf128ColumnsAreRightInEveryFormat) {
  const auto shape = [](int m, int n, int k) { return Shape({{"m", m}, {"n", n}, {"k", k}}); };
  set_compute_capability(90);
  int formats = 0;
  for (const auto& i : Registry::instance().implementations()) {
    if (i->technique.name != "wgmma_split_k") continue;
    ++formats;
    set_multiprocessors(2);  // clusters of one, two and four blocks
    split_k::expect_right(*i, shape(64, 264, 144));
    split_k::expect_right(*i, shape(33, 131, 1040));
    split_k::expect_right(*i, shape(41, 100, 2064));
    set_multiprocessors(kMultiprocessors);  // of eight
    split_k::expect_right(*i, shape(50, 127, 4112));
  }
  EXPECT_EQ(formats, 7);
}

// More than 64 rows of C: whole blocks and parts, k split in one, two, four and eight.
TEST(SplitK, BlocksOf128RowsAreRightInEveryFormat) {
  const auto shape = [](int m, int n, int k) { return Shape({{"m", m}, {"n", n}, {"k", k}}); };
  set_compute_capability(90);
  for (const auto& i : Registry::instance().implementations()) {
    if (i->technique.name != "wgmma_split_k") continue;
    set_multiprocessors(2);
    split_k::expect_right(*i, shape(130, 264, 144));  // six tiles for four resident blocks
    split_k::expect_right(*i, shape(128, 128, 1040));
    set_multiprocessors(kMultiprocessors);
    split_k::expect_right(*i, shape(200, 127, 4112));
  }
  set_multiprocessors(kMultiprocessors);
}

TEST(SplitK, EveryMistakeIsFound) {
  using split_k::Mistake;
  EXPECT_FALSE(split_k::in_any_order<Mistake::none>());
  EXPECT_TRUE(split_k::in_any_order<Mistake::own_stage_released>());
  EXPECT_TRUE(split_k::in_any_order<Mistake::no_proper_end>());
  EXPECT_TRUE(split_k::in_any_order<Mistake::no_cluster_sync>());
}

}  // namespace
}  // namespace ridgebench::emulator
