// TMA: a kernel with one mistake each, and its correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "kernels/common/cuda/ptx/shared_memory.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::Barrier;
using cuda::Swizzle;
using cuda::TensorMap;

constexpr int kThreads = 64;
constexpr int kBoxRows = 8;
constexpr int kBoxLength = 32;
constexpr int kBox = kBoxRows * kBoxLength;
constexpr int kBoxBytes = kBox * 4;
constexpr int kShared = kBoxBytes + 16;

// 13 rows of 20 numbers, counted from 1.
constexpr int kRows = 13;
constexpr int kLength = 20;

struct Matrix {
  alignas(16) std::array<float, kRows * kLength> number{};

  [[nodiscard]] TensorMap map(Swizzle swizzle) const {
    return cuda::tensor_map(number.data(), kRows, kLength, kBoxRows, kBoxLength, swizzle);
  }
  // Zero outside.
  [[nodiscard]] float at(int row, int along) const {
    const bool inside = row >= 0 && row < kRows && along >= 0 && along < kLength;
    return inside ? number[static_cast<std::size_t>(row * kLength + along)] : 0;
  }
};

Matrix counted() {
  Matrix matrix;
  std::iota(matrix.number.begin(), matrix.number.end(), 1.0F);
  return matrix;
}

enum class Mistake { none, no_publish, no_wait, wrong_bytes, no_fence, no_commit, no_store_wait };

// Loads a box, writes its contents to `seen`, doubles them and stores the box.
template <Mistake kMistake, std::size_t kAlignment>
__global__ void double_box(const __grid_constant__ TensorMap from,
                           const __grid_constant__ TensorMap to, int along, int row, float* seen) {
  extern __shared__ alignas(kAlignment) std::byte memory[];
  auto* const box = reinterpret_cast<float*>(memory);
  Barrier& full = *reinterpret_cast<Barrier*>(memory + kBoxBytes);
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(full, 1);
    if (kMistake != Mistake::no_publish) cuda::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::mbarrier_arrive_expect_tx(full, kBoxBytes + (kMistake == Mistake::wrong_bytes ? 16 : 0));
    cuda::tma_load_2d(box, from, along, row, full);
  }
  if (kMistake != Mistake::no_wait) cuda::mbarrier_wait_parity(full, 0);
  for (unsigned i = threadIdx.x; i < kBox; i += kThreads) {
    seen[i] = box[i];
    box[i] *= 2;
  }
  if (kMistake != Mistake::no_fence) cuda::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::tma_store_2d(to, along, row, box);
    if (kMistake != Mistake::no_commit) cuda::cp_async_bulk_commit_group();
    if (kMistake != Mistake::no_store_wait) cuda::cp_async_bulk_wait_group();
  }
}

struct Doubled {
  std::array<float, kBox> seen{};
  Matrix out;
  std::string fault;
};

template <Mistake kMistake, std::size_t kAlignment = 1024>
Doubled doubled(int along, int row, Swizzle swizzle = Swizzle::none) {
  const Matrix in = counted();
  Doubled result;
  const TensorMap from = in.map(swizzle);
  const TensorMap to = result.out.map(swizzle);
  result.fault = fault_of([&] {
    double_box<kMistake, kAlignment>
        <<<1, kThreads, kShared>>>(from, to, along, row, result.seen.data());
  });
  return result;
}

TEST(Tma, BoxesAreFilledWithZerosAndClipped) {
  const Matrix in = counted();
  for (const auto& [along, row] : {std::pair(0, 0), {-5, -3}, {8, 9}, {40, 0}, {0, -8}}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      set_order(order);
      const Doubled result = doubled<Mistake::none>(along, row);
      set_order(Order::ascending);
      ASSERT_EQ(result.fault, "");
      for (int i = 0; i < kBox; ++i) {
        ASSERT_EQ(result.seen[i], in.at(row + i / kBoxLength, along + i % kBoxLength));
      }
      for (int i = 0; i < kRows * kLength; ++i) {
        const int r = i / kLength - row;
        const int c = i % kLength - along;
        const bool in_box = r >= 0 && r < kBoxRows && c >= 0 && c < kBoxLength;
        ASSERT_EQ(result.out.number[i], in_box ? 2 * in.number[i] : 0);
      }
    }
  }
}

// A box that is not aligned to 1024 bytes has another pattern than the code expects.
TEST(Tma, SwizzleFollowsTheAddress) {
  const Matrix in = counted();
  const auto right = [&](const Doubled& result) {
    int same = 0;
    for (int i = 0; i < kBox; ++i) {
      const int place = cuda::swizzle_128b(i / kBoxLength, i % kBoxLength * 4) / 4;
      same += result.seen[place] == in.at(i / kBoxLength, i % kBoxLength) ? 1 : 0;
    }
    return same;
  };
  EXPECT_EQ(right(doubled<Mistake::none>(0, 0, Swizzle::bytes_128)), kBox);
  EXPECT_LT(right(doubled<Mistake::none, 128>(0, 0, Swizzle::bytes_128)), kBox);
}

TEST(Tma, EveryMistakeIsAFault) {
  expect_fault(doubled<Mistake::no_publish>(0, 0).fault, "fence.mbarrier_init");
  expect_fault(doubled<Mistake::no_fence>(0, 0).fault, "without fence.proxy.async");
  expect_fault(doubled<Mistake::no_commit>(0, 0).fault, "TMA stores that are in no group");
  expect_fault(doubled<Mistake::no_store_wait>(0, 0).fault, "without waiting for its TMA stores");
  const std::string never = doubled<Mistake::wrong_bytes>(0, 0).fault;
  expect_fault(never, "deadlock: kernel double_box");
  expect_fault(doubled<Mistake::none, 64>(0, 0).fault, "not aligned to 128 bytes");
  expect_fault(never, "lacks 0 arrivals and 16 bytes, as do 63 others");
}

TEST(Tma, DataIsNanBeforeTheWait) {
  const Doubled result = doubled<Mistake::no_wait>(0, 0);
  for (const float x : result.seen) EXPECT_TRUE(std::isnan(x));
}

// One stage between a producer and a consumer in different warps.
template <bool kEarly>
__global__ void one_stage(const __grid_constant__ TensorMap from, float* sum) {
  extern __shared__ alignas(1024) std::byte memory[];
  const auto* const box = reinterpret_cast<float*>(memory);
  Barrier* const full = reinterpret_cast<Barrier*>(memory + kBoxBytes);
  Barrier* const empty = full + 1;
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(*full, 1);
    cuda::mbarrier_init(*empty, 1);
    cuda::fence_mbarrier_init();
  }
  __syncthreads();
  for (unsigned i = 0; i < 3; ++i) {
    if (threadIdx.x == 0) {
      cuda::mbarrier_wait_parity(*empty, (i & 1U) ^ 1U);
      cuda::mbarrier_arrive_expect_tx(*full, kBoxBytes);
      cuda::tma_load_2d(memory, from, 0, static_cast<int>(i), *full);
    } else if (threadIdx.x == 32) {
      cuda::mbarrier_wait_parity(*full, i & 1U);
      if (kEarly) cuda::mbarrier_arrive(*empty);
      sum[i] = box[0];
      if (!kEarly) cuda::mbarrier_arrive(*empty);
    }
  }
}

TEST(Tma, AStageReleasedTooEarlyIsOverwritten) {
  const Matrix in = counted();
  std::array<float, 3> sum{};
  set_order(Order::hesitant);
  one_stage<false><<<1, kThreads, kShared>>>(in.map(Swizzle::none), sum.data());
  EXPECT_EQ(sum, (std::array{1.0F, 21.0F, 41.0F}));
  one_stage<true><<<1, kThreads, kShared>>>(in.map(Swizzle::none), sum.data());
  set_order(Order::ascending);
  EXPECT_TRUE(std::isnan(sum[0]) && std::isnan(sum[1]));
}

template <bool kFence>
__global__ void store_words(const __grid_constant__ TensorMap to) {
  extern __shared__ alignas(1024) std::byte memory[];
  std::uint32_t word[4] = {threadIdx.x, 100 + threadIdx.x, 200 + threadIdx.x, 300 + threadIdx.x};
  cuda::stmatrix_x4(memory + threadIdx.x * 16, word);
  // The fences of other threads do not cover this thread's writes.
  if (kFence || threadIdx.x != 7) cuda::fence_proxy_async();
  __syncwarp();
  if (threadIdx.x == 0) {
    cuda::tma_store_2d(to, 0, 0, memory);
    cuda::cp_async_bulk_commit_group();
    cuda::cp_async_bulk_wait_group_read<0>();
  }
}

TEST(Tma, StmatrixNeedsTheFenceOfEveryThread) {
  alignas(16) std::array<std::uint32_t, 128> words{};
  const TensorMap to =
      cuda::tensor_map(reinterpret_cast<const float*>(words.data()), 4, 32, 4, 32, Swizzle::none);
  store_words<true><<<1, 32, kShared>>>(to);
  // Row r of matrix i lies at 16 (8 i + r) and has the words of lanes 4 r to 4 r + 3.
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(words[i], i / 32 * 100 + i % 32);
  expect_fault(fault_of([&] { store_words<false><<<1, 32, kShared>>>(to); }),
               "that thread 7 wrote without fence.proxy.async");
}

}  // namespace
}  // namespace ridgebench::emulator
