// wgmma, setmaxnreg, named barriers and dynamic shared memory: kernels with one mistake each, and
// their correct forms.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/barrier.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "kernels/common/cuda/ptx/wgmma.cuh"
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

constexpr int kM = 64;
constexpr int kN = 16;
constexpr int kK = 64;  // one row of a box

enum class Mistake {
  none,
  no_fence,
  no_begin,
  no_wait,
  early_read,
  sums_touched,
  operand_overwritten,
  three_warps,
  unlike,
  no_swizzle,
  misplaced
};

__device__ void fill(std::byte* unit, const Bf16* from, int lines) {
  for (int i = static_cast<int>(threadIdx.x); i < lines * kK; i += cuda::kWarpgroup) {
    *reinterpret_cast<Bf16*>(unit + cuda::swizzle_128b(i / kK, i % kK * 2)) = from[i];
  }
}

template <Mistake kMistake>
__device__ void multiply_all(float (&sum)[kN / 2], std::uint64_t a, std::uint64_t b) {
  if (kMistake == Mistake::no_swizzle) a &= ~(std::uint64_t{3} << 62U);
  if (kMistake == Mistake::misplaced) a += 128 >> 4U;
  if (kMistake == Mistake::unlike && threadIdx.x == 5) b += 2;
  if (kMistake != Mistake::no_begin) cuda::warpgroup_arrive();
  for (int step = 0; step < cuda::kWgmmasPerBlockK; ++step) {
    const std::uint64_t offset = cuda::k_step_offset(true, step);
    cuda::wgmma_mma_async<Bf16, Bf16, kN>(sum, a + offset, b + offset, step > 0);
  }
  cuda::warpgroup_commit_batch();
}

// c = a b^T of 64 x 64 and 16 x 64, by one warpgroup.
template <Mistake kMistake>
__global__ void multiply(const Bf16* a, const Bf16* b, float* c) {
  extern __shared__ alignas(1024) std::byte units[];
  std::byte* const unit_b = units + cuda::kBoxBytes;
  fill(units, a, kM);
  fill(unit_b, b, kN);
  if (kMistake != Mistake::no_fence) cuda::fence_proxy_async();
  __syncthreads();
  if (kMistake == Mistake::three_warps && threadIdx.x >= 96) return;
  float sum[kN / 2];
  multiply_all<kMistake>(sum, cuda::matrix_descriptor(cuda::shared_address(units)),
                         cuda::matrix_descriptor(cuda::shared_address(unit_b)));
  if (kMistake == Mistake::operand_overwritten) fill(unit_b, a, kN);
  if (kMistake == Mistake::sums_touched) sum[0] = 0;
  const auto store = [&] {
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = 0; i < kN / 2; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
      c[row * kN + 8 * (i / 4) + 2 * (thread % 4) + i % 2] = sum[i];
    }
  };
  if (kMistake == Mistake::early_read) store();
  if (kMistake != Mistake::no_wait) cuda::warpgroup_wait<0>();
  if (kMistake != Mistake::early_read) store();
}

struct Product {
  std::vector<float> c, expected;
  std::string fault;
};

template <Mistake kMistake>
Product product(Order order = Order::ascending) {
  std::vector<Bf16> a, b;
  for (int i = 0; i < kM * kK; ++i) a.push_back(encode<Bf16>(static_cast<float>(i * i % 7 - 3)));
  for (int i = 0; i < kN * kK; ++i) b.push_back(encode<Bf16>(static_cast<float>(i * i % 5 - 2)));
  Product result{.c = std::vector<float>(kM * kN), .expected = {}, .fault = {}};
  for (int i = 0; i < kM * kN; ++i) {
    float sum = 0;
    for (int k = 0; k < kK; ++k) {
      sum += decode(a[static_cast<std::size_t>(i / kN * kK + k)]) *
             decode(b[static_cast<std::size_t>(i % kN * kK + k)]);
    }
    result.expected.push_back(sum);
  }
  constexpr std::size_t shared = 2 * cuda::kBoxBytes;
  set_order(order);
  result.fault = fault_of(
      [&] { multiply<kMistake><<<1, 128, shared>>>(a.data(), b.data(), result.c.data()); });
  set_order(Order::ascending);
  return result;
}

TEST(Wgmma, MultipliesAsDefined) {
  for (const Order order : {Order::ascending, Order::descending}) {
    const Product right = product<Mistake::none>(order);
    EXPECT_EQ(right.fault, "");
    EXPECT_EQ(right.c, right.expected);
  }
}

TEST(Wgmma, EveryMistakeIsAFault) {
  expect_fault(product<Mistake::no_fence>().fault, "wgmma of shared memory written without fence");
  expect_fault(product<Mistake::no_begin>().fault, "without wgmma.fence before it");
  expect_fault(product<Mistake::no_wait>().fault, "ends without waiting for its wgmma products");
  expect_fault(product<Mistake::sums_touched>().fault, "sums were written while wgmma");
  expect_fault(product<Mistake::three_warps>().fault, "waits at wgmma.mma_async");
  expect_fault(product<Mistake::unlike>().fault, "different operands in one warpgroup");
  expect_fault(product<Mistake::misplaced>().fault, "not where the swizzle's pattern starts");
  EXPECT_THROW(product<Mistake::no_swizzle>(), NotEmulated);
}

TEST(Wgmma, AccumulatorsAreNanBeforeTheWait) {
  for (const float x : product<Mistake::early_read>().c) EXPECT_TRUE(std::isnan(x));
}

// Either a wgmma reads what was written later, or the order of the threads decides what it reads.
TEST(Wgmma, OperandsOverwrittenTooEarlyGiveWrongResults) {
  const Product wrong = product<Mistake::operand_overwritten>();
  EXPECT_NE(wrong.c, wrong.expected);
}

template <int kShrunk, int kGrown>
__global__ void share_registers(bool all) {
  if (threadIdx.x < cuda::kWarpgroup) {
    if (all || threadIdx.x < 96) cuda::warpgroup_reg_dealloc<kShrunk>();
  } else {
    cuda::warpgroup_reg_alloc<kGrown>();
  }
}

TEST(Setmaxnreg, TheSumMustFit) {
  EXPECT_EQ(fault_of([] { share_registers<24, 240><<<1, 384>>>(true); }), "");
  expect_fault(fault_of([] { share_registers<40, 240><<<1, 384>>>(true); }), "waits for ever");
  expect_fault(fault_of([] { share_registers<24, 240><<<1, 384>>>(false); }),
               "by a part of a warpgroup");
  expect_fault(fault_of([] { share_registers<28, 240><<<1, 384>>>(true); }), "of 28 registers");
  expect_fault(fault_of([] { share_registers<24, 240><<<1, 512>>>(true); }), "waits for ever");
}

__global__ void named_barrier(int threads) {
  if (static_cast<int>(threadIdx.x) < threads) cuda::named_barrier_sync(1);
  __syncthreads();
}

TEST(NamedBarrier, WaitsForItsThreads) {
  EXPECT_EQ(fault_of([] { named_barrier<<<1, 256>>>(128); }), "");
  EXPECT_EQ(fault_of([] { named_barrier<<<1, 256>>>(256); }), "");
  const std::string text = fault_of([] { named_barrier<<<1, 256>>>(64); });
  expect_fault(text, "waits at bar.sync");
  expect_fault(text, "barrier 1, for threads that do not come, as do 63 others");
}

template <std::size_t kBytes>
__global__ void use_dynamic_memory(bool outside) {
  extern __shared__ std::byte memory[];
  memory[outside ? kBytes : kBytes - 1] = std::byte{1};
}

TEST(DynamicMemory, NeedsTheAttributeAndHasALimit) {
  constexpr std::size_t much = std::size_t{100} << 10U;
  constexpr auto kernel = use_dynamic_memory<much>;
  expect_fault(fault_of([] { kernel<<<1, 1, much>>>(false); }), "where it may have 49152");
  cuda::set_max_dynamic_shared_bytes(kernel, much);
  EXPECT_EQ(fault_of([] { kernel<<<1, 1, much>>>(false); }), "");
  EXPECT_THROW(cuda::set_max_dynamic_shared_bytes(kernel, cuda::kMaxSharedBytes + 1),
               std::runtime_error);
  expect_fault(fault_of([] { kernel<<<1, 1, much>>>(true); }), "beyond its dynamic shared memory");
  expect_fault(fault_of([] { kernel<<<1, 1>>>(false); }), "of which the launch has none");
}

}  // namespace
}  // namespace ridgebench::emulator
