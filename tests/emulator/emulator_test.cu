// Kernels with one mistake each, which the emulator must detect, and their correct forms.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

constexpr int kThreads = 64;
using Numbers = std::array<float, kThreads>;

Numbers counted() {
  Numbers x{};
  std::iota(x.begin(), x.end(), 1.0F);
  return x;
}

template <bool kBarrier>
__global__ void reverse(const float* x, float* y) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = x[threadIdx.x];
  if (kBarrier) __syncthreads();
  y[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

template <bool kBarrier>
Numbers reversed(Order order) {
  const Numbers x = counted();
  Numbers y{};
  set_order(order);
  reverse<kBarrier><<<1, kThreads>>>(x.data(), y.data());
  set_order(Order::ascending);
  return y;
}

TEST(Emulator, SharedMemoryThatIsNotWrittenYetIsNan) {
  for (const Order order : {Order::ascending, Order::descending}) {
    const Numbers right = reversed<true>(order);
    const Numbers wrong = reversed<false>(order);
    for (int i = 0; i < kThreads; ++i) EXPECT_EQ(right[i], static_cast<float>(kThreads - i));
    EXPECT_TRUE(std::isnan(wrong[0]) || std::isnan(wrong[kThreads - 1]));
  }
}

// Each thread overwrites an element that its neighbour may not have read yet.
__global__ void shift(const float* x, float* y) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float next = tile[(threadIdx.x + 1) % kThreads];
  tile[threadIdx.x] = 0;
  y[threadIdx.x] = next;
}

TEST(Emulator, RaceShowsInAnotherOrder) {
  const Numbers x = counted();
  std::array<Numbers, 2> y{};
  shift<<<1, kThreads>>>(x.data(), y[0].data());
  set_order(Order::descending);
  shift<<<1, kThreads>>>(x.data(), y[1].data());
  set_order(Order::ascending);
  EXPECT_NE(y[0], y[1]);
}

__global__ void sum(const float* x, float* y) {
  const float total = cuda::block_sum<kThreads>(x[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}

TEST(Emulator, BlocksSumOneAfterTheOther) {
  std::vector<float> x(3 * kThreads, 0.5F);
  std::array<float, 3> y{};
  sum<<<3, kThreads>>>(x.data(), y.data());
  EXPECT_EQ(y, (std::array{32.0F, 32.0F, 32.0F}));
}

__global__ void divergent_barrier() {
  if (threadIdx.x < 5) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(Emulator, ThreadsAtDifferentBarriersAreAFault) {
  const std::string text = fault_of([] { divergent_barrier<<<2, kThreads>>>(); });
  EXPECT_NE(text.find("kernel divergent_barrier (emulator_test.cu:"), std::string::npos) << text;
  EXPECT_NE(text.find("block (0, 0, 0), thread (5, 0, 0): waits at __syncthreads"),
            std::string::npos)
      << text;
}

__global__ void early_exit(float* y) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  y[threadIdx.x] = 1;
}

TEST(Emulator, EndedThreadsAreNotWaitedFor) {
  Numbers y{};
  early_exit<<<1, kThreads>>>(y.data());
  EXPECT_EQ(std::accumulate(y.begin(), y.end(), 0.0F), 40);
}

__global__ void shuffle_in_half_a_warp() {
  if (threadIdx.x < 16) {
    __shfl_xor_sync(0xffffffffU, 1.0F, 8);
  } else {
    __syncthreads();
  }
}

TEST(Emulator, MissingLanesAreAFault) {
  const std::string text = fault_of([] { shuffle_in_half_a_warp<<<1, kThreads>>>(); });
  EXPECT_NE(text.find("waits at __shfl_xor_sync"), std::string::npos) << text;
}

__global__ void shuffles(const int* x, int* y) {
  const unsigned lane = threadIdx.x;
  y[lane] = __shfl_down_sync(0xffffffffU, x[lane], 3);
  y[32 + lane] = __shfl_sync(0xffffffffU, x[lane], 9, 8);
  if (lane < 8) y[64 + lane] = __shfl_xor_sync(0xffU, x[lane], 5);
}

TEST(Emulator, ShufflesFollowTheirDefinition) {
  std::array<int, 32> x{};
  std::array<int, 72> y{};
  std::iota(x.begin(), x.end(), 100);
  shuffles<<<1, 32>>>(x.data(), y.data());
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(y[lane], 100 + (lane + 3 < 32 ? lane + 3 : lane));
    EXPECT_EQ(y[32 + lane], 100 + lane / 8 * 8 + 1);
  }
  for (int lane = 0; lane < 8; ++lane) EXPECT_EQ(y[64 + lane], 100 + (lane ^ 5));
}

template <bool kWait>
__global__ void copy(const float* x, float* y) {
  __shared__ alignas(16) float tile[kThreads];
  const bool inside = threadIdx.x < 8;
  if (threadIdx.x < 16) cuda::cp_async_zfill(&tile[4 * threadIdx.x], &x[4 * threadIdx.x], inside);
  cuda::cp_async_commit_group();
  if (kWait) cuda::cp_async_wait_group<0>();
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

TEST(Emulator, AsynchronousCopiesArriveWhenWaitedFor) {
  alignas(16) const Numbers x = counted();
  Numbers y{};
  copy<true><<<1, kThreads>>>(x.data(), y.data());
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(y[i], i < 32 ? x[i] : 0);
  copy<false><<<1, kThreads>>>(x.data(), y.data());
  for (int i = 0; i < kThreads; ++i) EXPECT_TRUE(std::isnan(y[i]));
}

__global__ void load_rows(bool aligned, bool inside) {
  __shared__ alignas(16) std::uint16_t rows[32][8];
  __shared__ std::uint16_t loose[32][8];
  rows[threadIdx.x][0] = 0;
  loose[threadIdx.x][0] = 0;
  std::uint32_t word[4];
  cuda::ldmatrix_x4<false>(word,
                           aligned ? rows[threadIdx.x + (inside ? 0 : 1)] : loose[threadIdx.x]);
}

TEST(Emulator, SharedAddressesMustBeAlignedAndInside) {
  EXPECT_EQ(fault_of([] { load_rows<<<1, 32>>>(true, true); }), "");
  EXPECT_NE(fault_of([] { load_rows<<<1, 32>>>(false, true); }).find("multiple of its size"),
            std::string::npos);
  EXPECT_NE(fault_of([] { load_rows<<<1, 32>>>(true, false); }).find("outside every shared array"),
            std::string::npos);
}

#ifdef __SANITIZE_ADDRESS__
__global__ void read_one(const float* x, float* y) { *y = *x; }

TEST(EmulatorDeathTest, AccessOutsideTheOperandsEndsTheProgram) {
  const Numbers numbers = counted();
  const std::vector<float> x(numbers.begin(), numbers.end());
  float y = 0;
  const ForbiddenMemory forbidden({std::as_bytes(std::span(x).subspan(8))});
  read_one<<<1, 1>>>(&x[7], &y);
  EXPECT_EQ(y, 8);
  EXPECT_DEATH((read_one<<<1, 1>>>(&x[8], &y)), "use-after-poison");
}

__global__ void read_beyond_shared(float* y) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = 0;
  y[threadIdx.x] = tile[threadIdx.x + 1];
}

TEST(EmulatorDeathTest, AccessOutsideASharedArrayEndsTheProgram) {
  Numbers y{};
  EXPECT_DEATH((read_beyond_shared<<<1, kThreads>>>(y.data())),
               "out of bounds|global-buffer-overflow");
}
#endif

__global__ void unknown_instruction() { asm volatile("nanosleep.u32 %0;" ::"r"(1)); }
__global__ void nothing() {}

TEST(Emulator, UnsupportedCodeIsRefused) {
  EXPECT_THROW((unknown_instruction<<<1, 1>>>()), NotEmulated);
  EXPECT_THROW((nothing<<<1, 1025>>>()), Fault);
  EXPECT_THROW((nothing<<<0, 1>>>()), Fault);
  EXPECT_THROW((nothing<<<dim3(1, 65536), 1>>>()), Fault);
}

}  // namespace
}  // namespace ridgebench::emulator
