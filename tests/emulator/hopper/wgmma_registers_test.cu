// wgmma with A in registers: a kernel with one mistake each, and its correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

namespace registers {

constexpr int kM = 64;
constexpr int kN = 128;
constexpr int kK = 32;  // of tf32, one row of a box

enum class Mistake { none, no_operand_fence, no_fence, written_after_fence, reused_too_early };

// c = a b^T, one step of k after the other, with fragments that take turns.
template <Mistake kMistake>
__global__ void multiply(const float* a, const float* b, float* c) {
  alignas(1024) extern __shared__ std::byte box_b[];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kN * kK; i += cuda::kWarpgroup) {
    *reinterpret_cast<float*>(box_b + cuda::swizzle_128b(i / kK, i % kK * 4)) = b[i];
  }
  cuda::fence_proxy_async();
  __syncthreads();
  const std::uint64_t descriptor = cuda::matrix_descriptor(cuda::shared_address(box_b));
  float sum[kN / 2];
  cuda::WgmmaFragmentA fragment[2];
  for (int step = 0; step < cuda::kWgmmasPerBlockK; ++step) {
    cuda::WgmmaFragmentA& own = fragment[step % 2];
    const bool second = step == 2;  // the first that writes a fragment again
    if (step >= 2 && !(second && kMistake == Mistake::reused_too_early)) cuda::warpgroup_wait<1>();
    if (second && kMistake == Mistake::written_after_fence) cuda::warpgroup_arrive();
    for (int i = 0; i < 4; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
      own[i] = __float_as_uint(a[row * kK + step * 8 + thread % 4 + i / 2 * 4]);
    }
    if (kMistake != Mistake::no_operand_fence) cuda::warpgroup_fence_operand(own);
    const bool fence =
        !(second && (kMistake == Mistake::no_fence || kMistake == Mistake::written_after_fence));
    if (fence) cuda::warpgroup_arrive();
    cuda::wgmma_mma_async_rs<Tf32, kN>(sum, own, descriptor + cuda::k_step_offset(true, step),
                                       step > 0);
    cuda::warpgroup_commit_batch();
  }
  cuda::warpgroup_wait<0>();
  for (int i = 0; i < kN / 2; ++i) {
    c[cuda::accumulator_row(thread, i) * kN + cuda::accumulator_column(thread, i)] = sum[i];
  }
}

struct Result {
  std::vector<float> c, expected;
  std::string fault;
};

template <Mistake kMistake>
Result product(Order order = Order::ascending) {
  std::vector<float> a, b;
  for (int i = 0; i < kM * kK; ++i) a.push_back(static_cast<float>(i * i % 7 - 3));
  for (int i = 0; i < kN * kK; ++i) b.push_back(static_cast<float>(i * i % 11 - 5));
  Result result{.c = std::vector<float>(kM * kN), .expected = {}, .fault = {}};
  for (int i = 0; i < kM * kN; ++i) {
    float sum = 0;
    for (int k = 0; k < kK; ++k) sum += a[i / kN * kK + k] * b[i % kN * kK + k];
    result.expected.push_back(sum);
  }
  constexpr std::size_t shared = kN * kK * sizeof(float);
  set_order(order);
  result.fault = fault_of(
      [&] { multiply<kMistake><<<1, 128, shared>>>(a.data(), b.data(), result.c.data()); });
  set_order(Order::ascending);
  return result;
}

}  // namespace registers

TEST(WgmmaRegisters, MultiplyAsDefined) {
  for (const Order order : {Order::ascending, Order::descending}) {
    const registers::Result right = registers::product<registers::Mistake::none>(order);
    EXPECT_EQ(right.fault, "");
    EXPECT_EQ(right.c, right.expected);
  }
}

TEST(WgmmaRegisters, EveryMistakeIsAFault) {
  using registers::Mistake;
  using registers::product;
  expect_fault(product<Mistake::no_operand_fence>().fault, "without wgmma.fence after it");
  expect_fault(product<Mistake::no_fence>().fault, "without wgmma.fence before it");
  expect_fault(product<Mistake::written_after_fence>().fault, "without wgmma.fence after it");
  expect_fault(product<Mistake::reused_too_early>().fault, "registers of A were written while");
}

}  // namespace
}  // namespace ridgebench::emulator
