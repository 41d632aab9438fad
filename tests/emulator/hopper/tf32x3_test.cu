// The parts of wgmma_tf32x3 in a kernel of one box of A and one stage, with one mistake each, and
// in their correct form; and the whole product of infinities and NaN.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/matmul/hopper/tf32x3.cuh"
#include "tests/emulator/fault_of.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench::emulator {
namespace {

namespace tf32x3 {

using cuda::matmul_wgmma_tf32x3::Tile;

constexpr int kM = 64;
constexpr int kN = Tile::kBlockN;
constexpr int kK = 32;

enum class Mistake { none, no_wait_for_split, no_proxy_fence, released_before_the_wait };

// What split_b does, without fence.proxy.async.
__device__ void split_without_fence(Tile::Shared& shared, int thread) {
  cuda::mbarrier_wait_parity(shared.pipeline.full[0], 0);
  const auto* const whole = reinterpret_cast<const float*>(shared.stage[0] + Tile::kOffsetB);
  auto* const low = reinterpret_cast<float*>(shared.low_b[0]);
  for (int i = thread; i < kN * kK; i += cuda::matmul_wgmma_tf32x3::kSplitters) {
    low[i] = cuda::matmul_wgmma_tf32x3::low_part(whole[i]);
  }
  cuda::mbarrier_arrive(shared.split[0]);
}

// c = a b^T. The first warpgroup loads and splits, the second multiplies.
template <Mistake kMistake>
__global__ void multiply(const __grid_constant__ cuda::TensorMap a,
                         const __grid_constant__ cuda::TensorMap b, float* c) {
  alignas(1024) extern __shared__ std::byte memory[];
  auto& shared = *reinterpret_cast<Tile::Shared*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (cuda::Barrier& split : shared.split) {
      cuda::mbarrier_init(split, cuda::matmul_wgmma_tf32x3::kSplitters);
    }
    shared.pipeline.init(cuda::kWarpgroup / cuda::kWarp);
  }
  __syncthreads();
  cuda::PipelineState<Tile::kStages> state;
  if (thread == 0) {
    cuda::Barrier& full = shared.pipeline.producer_acquire(state, (1 + 2) * cuda::kBoxBytes);
    cuda::load_operand<true, 1>(shared.stage[0], a, 0, 0, full);
    cuda::load_operand<true, 2>(shared.stage[0] + Tile::kOffsetB, b, 0, 0, full);
    // The stage again, as for a next tile.
    cuda::mbarrier_wait_parity(shared.pipeline.empty[0], 0);
    cuda::mbarrier_arrive_expect_tx(full, (1 + 2) * cuda::kBoxBytes);
    cuda::load_operand<true, 1>(shared.stage[0], b, 0, 0, full);
    cuda::load_operand<true, 2>(shared.stage[0] + Tile::kOffsetB, b, 0, 0, full);
    cuda::mbarrier_wait_parity(full, 1);
  } else if (thread >= cuda::kWarp && thread < cuda::kWarpgroup) {
    if (kMistake == Mistake::no_proxy_fence) {
      split_without_fence(shared, thread - cuda::kWarp);
    } else {
      cuda::matmul_wgmma_tf32x3::split_b(shared, thread - cuda::kWarp, state, 1);
    }
  } else if (thread >= cuda::kWarpgroup) {
    shared.pipeline.consumer_wait(state);
    if (kMistake != Mistake::no_wait_for_split) cuda::mbarrier_wait_parity(shared.split[0], 0);
    cuda::matmul_wgmma_tf32x3::Part part;
    cuda::matmul_wgmma_tf32x3::SplitFragment fragment[2];
    cuda::matmul_wgmma_tf32x3::multiply_box(part, fragment, shared.stage[0],
                                            shared.stage[0] + Tile::kOffsetB, shared.low_b[0]);
    if (kMistake == Mistake::released_before_the_wait) shared.pipeline.consumer_release(0);
    cuda::warpgroup_wait<0>();
    if (kMistake != Mistake::released_before_the_wait) shared.pipeline.consumer_release(0);
    for (int i = 0; i < kN / 2; ++i) {
      c[cuda::accumulator_row(i) * kN + cuda::accumulator_column(i)] = part[i];
    }
  }
}

struct Result {
  std::vector<float> c, expected;
  std::string fault;
};

// Numbers with a low part: integers beyond the 11 bits of tf32. Sums stay below 2^24.
template <Mistake kMistake>
Result product(Order order) {
  std::vector<float> a, b;
  for (int i = 0; i < kM * kK; ++i) a.push_back(static_cast<float>(i % 3 == 0 ? 4097 : i % 5));
  for (int i = 0; i < kN * kK; ++i) b.push_back(static_cast<float>(i * i % 11 - 5));
  Result result{.c = std::vector<float>(kM * kN), .expected = {}, .fault = {}};
  for (int i = 0; i < kM * kN; ++i) {
    float sum = 0;
    for (int k = 0; k < kK; ++k) sum += a[i / kN * kK + k] * b[i % kN * kK + k];
    result.expected.push_back(sum);
  }
  const auto map = [](const std::vector<float>& x, int rows) {
    return cuda::tensor_map(x.data(), rows, kK, cuda::kBoxRows, kK, cuda::Swizzle::bytes_128);
  };
  constexpr auto kernel = multiply<kMistake>;
  constexpr std::size_t shared = sizeof(Tile::Shared);
  cuda::set_max_dynamic_shared_bytes(kernel, shared);
  set_order(order);
  result.fault =
      fault_of([&] { kernel<<<1, 256, shared>>>(map(a, kM), map(b, kN), result.c.data()); });
  set_order(Order::ascending);
  return result;
}

// A fault or a wrong result in one order of the threads at least.
template <Mistake kMistake>
bool is_found() {
  for (const Order order : {Order::ascending, Order::descending, Order::hesitant}) {
    const Result result = product<kMistake>(order);
    if (!result.fault.empty() || result.c != result.expected) return true;
  }
  return false;
}

enum class Lead { once, never, in_every_stage };

// The start of the second consumer, in a kernel that does nothing else.
template <Lead kLead>
__global__ void start_second_consumer() {
  alignas(8) extern __shared__ std::byte memory[];
  auto& lead = *reinterpret_cast<cuda::Barrier*>(memory);
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(lead, cuda::kWarpgroup / cuda::kWarp);
    cuda::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x >= cuda::kWarpgroup) {
    cuda::mbarrier_wait_parity(lead, 0);
    return;
  }
  for (int stage = 0; stage < 2; ++stage) {
    const bool leads = kLead == Lead::in_every_stage || (kLead == Lead::once && stage == 0);
    if (leads && threadIdx.x % cuda::kWarp == 0) cuda::mbarrier_arrive(lead);
  }
}

template <Lead kLead>
std::string fault_at_the_start() {
  return fault_of([] { start_second_consumer<kLead><<<1, 256, sizeof(cuda::Barrier)>>>(); });
}

}  // namespace tf32x3

TEST(Tf32x3, TheSecondConsumerStartsOnceTheFirstHasLed) {
  using tf32x3::fault_at_the_start;
  using tf32x3::Lead;
  EXPECT_EQ(fault_at_the_start<Lead::once>(), "");
  expect_fault(fault_at_the_start<Lead::never>(), "waits at mbarrier");
  expect_fault(fault_at_the_start<Lead::in_every_stage>(), "waits at mbarrier");
}

TEST(Tf32x3, MultipliesLowPartsExactly) {
  for (const Order order : {Order::ascending, Order::descending, Order::hesitant}) {
    const tf32x3::Result right = tf32x3::product<tf32x3::Mistake::none>(order);
    EXPECT_EQ(right.fault, "");
    EXPECT_EQ(right.c, right.expected);
  }
}

TEST(Tf32x3, EveryMistakeIsFound) {
  using tf32x3::Mistake;
  EXPECT_TRUE(tf32x3::is_found<Mistake::no_wait_for_split>());
  EXPECT_TRUE(tf32x3::is_found<Mistake::released_before_the_wait>());
  expect_fault(tf32x3::product<Mistake::no_proxy_fence>(Order::ascending).fault,
               "written without fence");
}

TEST(Tf32x3, TheTwoPartsOfANumberMakeIt) {
  using cuda::matmul_wgmma_tf32x3::high_part;
  using cuda::matmul_wgmma_tf32x3::low_part;
  using Limits = std::numeric_limits<float>;
  for (const float x : {1.0F, -1.0F / 3, Limits::max(), -4097.0F, 0.0F}) {
    EXPECT_EQ(high_part(x) + low_part(x), x);
    EXPECT_LE(std::abs(low_part(x)), std::abs(x) * 0x1p-10F);
  }
  for (const float x : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(low_part(x)));
  }
}

// Infinities and NaN come out as from a chain of fp32 multiply-adds, also where a term overflows.
TEST(Tf32x3, NumbersThatAreNotFiniteGiveWhatFp32Gives) {
  using Limits = std::numeric_limits<float>;
  const auto& all = Registry::instance().implementations();
  const auto found =
      std::ranges::find_if(all, [](const auto& i) { return i->technique.name == "wgmma_tf32x3"; });
  ASSERT_NE(found, all.end());
  constexpr int m = 300;
  constexpr int n = 140;
  constexpr int k = 72;
  HostRun run(**found, Shape({{"m", m}, {"n", n}, {"k", k}}));
  run.fill(Fill::normal);
  auto* const a = static_cast<float*>(run.array(0).data());
  auto* const b = static_cast<float*>(run.array(1).data());
  a[3 * k + 5] = Limits::infinity();
  b[11 * k + 5] = 0;                                // infinity x 0
  a[7 * k + 1] = std::bit_cast<float>(0x7f800001);  // a NaN whose payload is in the low part
  a[130 * k + 71] = Limits::max();
  b[64 * k + 70] = -Limits::infinity();
  b[139 * k + 2] = Limits::quiet_NaN();
  a[17 * k + 70] = Limits::infinity();  // infinity x -infinity
  a[18 * k + 3] = Limits::infinity();
  a[18 * k + 4] = -Limits::infinity();
  ASSERT_TRUE(run.launch());
  const auto* const c = static_cast<const float*>(run.output().data());
  int infinite = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum = std::fma(a[i * k + p], b[j * k + p], sum);
      const float own = c[i * n + j];
      infinite += std::isinf(sum) ? 1 : 0;
      if (std::isnan(sum)) {
        EXPECT_TRUE(std::isnan(own)) << i << ", " << j;
      } else if (std::isinf(sum)) {
        EXPECT_EQ(own, sum) << i << ", " << j;
      } else {
        EXPECT_TRUE(std::isfinite(own)) << i << ", " << j;
      }
    }
  }
  EXPECT_GT(infinite, n);
}

}  // namespace
}  // namespace ridgebench::emulator
