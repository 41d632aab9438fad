// Clusters: a kernel with one mistake each, and its correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::Barrier;
using cuda::TensorMap;

constexpr int kThreads = 32;
constexpr int kShared = 4096;

cuda::ClusterGrid grid(unsigned blocks, unsigned cluster) {
  return {.blocks = dim3(blocks),
          .threads = kThreads,
          .shared_bytes = kShared,
          .stream = nullptr,
          .cluster = cluster};
}

// Runs both orders, because one may hide a mistake that the other shows.
template <class Run>
std::string fault_in_either_order(const Run& run) {
  const std::string first = fault_of(run);
  set_order(Order::descending);
  const std::string second = fault_of(run);
  set_order(Order::ascending);
  return first + second;
}

enum class Mistake { none, half_the_bytes, no_start, no_end };

constexpr int kHalf = 32;  // numbers that each block loads for both

template <Mistake kMistake>
__global__ void share(const __grid_constant__ TensorMap from, float* seen) {
  extern __shared__ alignas(1024) std::byte memory[];
  Barrier& full = *reinterpret_cast<Barrier*>(memory + 2048);
  const unsigned rank = cuda::cluster_ctarank();
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(full, 1);
    cuda::fence_mbarrier_init();
  }
  if (kMistake != Mistake::no_start) cuda::cluster_sync();
  if (threadIdx.x == 0) {
    cuda::mbarrier_arrive_expect_tx(
        full, kMistake == Mistake::half_the_bytes ? kHalf * 4 : 2 * kHalf * 4);
    cuda::tma_load_2d_multicast(3, memory + rank * kHalf * 4, from, static_cast<int>(rank) * kHalf,
                                static_cast<int>(blockIdx.x / 2), full);
  }
  cuda::mbarrier_wait_parity(full, 0);
  const auto* const numbers = reinterpret_cast<const float*>(memory);
  for (unsigned i = threadIdx.x; i < 2 * kHalf; i += kThreads) {
    seen[blockIdx.x * 2 * kHalf + i] = numbers[i];
  }
  if (kMistake != Mistake::no_end) cuda::cluster_sync();
}

using Seen = std::array<float, 8 * kHalf>;  // of four blocks

template <Mistake kMistake>
std::pair<Seen, std::string> shared_by_two(Order order) {
  alignas(16) std::array<float, 4 * kHalf> x{};
  std::iota(x.begin(), x.end(), 0.0F);
  Seen seen{};
  const TensorMap from = cuda::tensor_map(x.data(), 2, 2 * kHalf, 1, kHalf, cuda::Swizzle::none);
  set_order(order);
  const std::string fault =
      fault_of([&] { cuda::launch(share<kMistake>, grid(4, 2), from, seen.data()); });
  set_order(Order::ascending);
  return {seen, fault};
}

TEST(Cluster, MulticastReachesBothBlocks) {
  for (const Order order : {Order::ascending, Order::descending}) {
    const auto [seen, fault] = shared_by_two<Mistake::none>(order);
    EXPECT_EQ(fault, "");
    for (int i = 0; i < 8 * kHalf; ++i) {
      EXPECT_EQ(seen[i], static_cast<float>(i / (4 * kHalf) * 2 * kHalf + i % (2 * kHalf)));
    }
  }
}

TEST(Cluster, BytesOfOthersMustBeExpected) {
  const auto [seen, fault] = shared_by_two<Mistake::half_the_bytes>(Order::ascending);
  bool all = true;
  for (const float x : seen) all = all && !std::isnan(x);
  EXPECT_TRUE(!all || !fault.empty());
}

TEST(Cluster, BarriersMustBeInitialisedBeforeOtherBlocksUseThem) {
  const std::string text = shared_by_two<Mistake::no_start>(Order::ascending).second +
                           shared_by_two<Mistake::no_start>(Order::descending).second;
  EXPECT_NE(text, "");
}

// Block 1 signals block 0, and block 0 answers.
template <bool kSync>
__global__ void answer() {
  extern __shared__ std::byte memory[];
  Barrier& barrier = *reinterpret_cast<Barrier*>(memory);
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(barrier, 1);
    cuda::fence_mbarrier_init();
  }
  cuda::cluster_sync();
  if (threadIdx.x == 0) {
    if (cuda::cluster_ctarank() == 0) cuda::mbarrier_wait_parity(barrier, 0);
    cuda::mbarrier_arrive_cluster(barrier, 1 - cuda::cluster_ctarank());
  }
  __syncwarp();
  if (kSync) cuda::cluster_sync();
}

TEST(Cluster, AccessToABlockThatHasEndedIsAFault) {
  EXPECT_EQ(fault_in_either_order([] { cuda::launch(answer<true>, grid(2, 2)); }), "");
  expect_fault(fault_in_either_order([] { cuda::launch(answer<false>, grid(2, 2)); }),
               "kernel answer (cluster_test.cu:");
  expect_fault(fault_in_either_order([] { cuda::launch(answer<false>, grid(2, 2)); }),
               "of its cluster, which has ended");
}

enum class End { release, relaxed, wait };

// Each block arrives at a barrier of the other and ends.
template <End kEnd>
__global__ void arrive_and_end() {
  extern __shared__ std::byte memory[];
  Barrier& barrier = *reinterpret_cast<Barrier*>(memory);
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(barrier, 1);
    cuda::fence_mbarrier_init();
  }
  cuda::cluster_sync();
  if (threadIdx.x == 0) {
    cuda::mbarrier_arrive_cluster(barrier, 1 - cuda::cluster_ctarank());
    if (kEnd == End::wait) cuda::mbarrier_wait_parity(barrier, 0);
  }
  __syncwarp();
  if (kEnd == End::release) cuda::cluster_sync();
  if (kEnd == End::relaxed) cuda::cluster_sync_relaxed();
}

TEST(Cluster, ABlockEndsAfterOthersArrivals) {
  EXPECT_EQ(fault_in_either_order([] { cuda::launch(arrive_and_end<End::wait>, grid(2, 2)); }), "");
  EXPECT_EQ(fault_in_either_order([] { cuda::launch(arrive_and_end<End::release>, grid(2, 2)); }),
            "");
  expect_fault(
      fault_in_either_order([] { cuda::launch(arrive_and_end<End::relaxed>, grid(2, 2)); }),
      "ends while an arrival of another block may be under way");
}

template <bool kSync>
__global__ void sum_of_ranks(float* y) {
  alignas(16) extern __shared__ std::byte memory[];
  auto* const own = reinterpret_cast<float*>(memory);
  own[threadIdx.x] = static_cast<float>(cuda::cluster_ctarank() + 1);
  if (kSync) cuda::cluster_sync();
  float sum = 0;
  for (unsigned r = 0; r < cuda::cluster_nctarank(); ++r) {
    sum += cuda::ld_shared_cluster(reinterpret_cast<const float4*>(own) + threadIdx.x / 4, r).w;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
  cuda::cluster_sync();
}

TEST(Cluster, SharedMemoryOfOtherBlocksIsRead) {
  std::array<float, 8> y{};
  cuda::launch(sum_of_ranks<true>, grid(8, 4), y.data());
  for (const float sum : y) EXPECT_EQ(sum, 10);
  EXPECT_NE(fault_in_either_order([&] {
              cuda::launch(sum_of_ranks<false>, grid(8, 4), y.data());
              if (std::isnan(y[0])) fault("NaN");
            }),
            "");
}

__global__ void static_array() {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = 0;
}

TEST(Cluster, ImpossibleLaunchesAreRefused) {
  expect_fault(fault_of([] { cuda::launch(static_array, grid(2, 2)); }), "static shared array");
  expect_fault(fault_of([] { cuda::launch(static_array, grid(3, 2)); }), "clusters of 2");
  expect_fault(fault_of([] { cuda::launch(static_array, grid(16, 16)); }), "clusters of 16");
  int clusters = 0;
  clusters = cuda::max_active_clusters(static_array, grid(2, 2));
  EXPECT_EQ(clusters, 2);
}

TEST(Cluster, ADeviceThatHoldsNoneIsUnsupportedWithTheReason) {
  std::string reason;
  try {
    static_cast<void>(cuda::max_active_clusters(static_array, grid(16, 16)));
  } catch (const Unsupported& error) {
    reason = error.what();
  }
  EXPECT_NE(reason.find("the device holds no cluster of 16 blocks"), std::string::npos) << reason;
}

}  // namespace
}  // namespace ridgebench::emulator
