// Bulk copies of bytes in a row: a kernel with one mistake each, and its correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/common/cuda/ptx/bulk_copy.cuh"
#include "kernels/common/cuda/ptx/tma.cuh"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/fault_of.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench::emulator {
namespace {

enum class Slip {
  none,
  no_publish,
  no_load_wait,
  wrong_bytes,
  no_fence,
  no_barrier,
  no_commit,
  no_store_wait,
  odd_size,
  odd_address
};

constexpr int kInRow = 128;
constexpr int kRowBytes = kInRow * 4;

// y = x + 1, through shared memory.
template <Slip kSlip>
__global__ void add_one(const float* x, float* y) {
  alignas(128) extern __shared__ std::byte memory[];
  auto* const row = reinterpret_cast<float*>(memory);
  cuda::Barrier& full = *reinterpret_cast<cuda::Barrier*>(memory + kRowBytes + 16);
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(full, 1);
    if (kSlip != Slip::no_publish) cuda::fence_mbarrier_init();
    cuda::mbarrier_arrive_expect_tx(full, kRowBytes + (kSlip == Slip::wrong_bytes ? 16 : 0));
    cuda::cp_async_bulk_load(row, x + (kSlip == Slip::odd_address ? 1 : 0),
                             kRowBytes - (kSlip == Slip::odd_size ? 4 : 0), full);
  }
  __syncthreads();
  if (kSlip != Slip::no_load_wait) cuda::mbarrier_wait_parity(full, 0);
  row[threadIdx.x] += 1;
  if (kSlip != Slip::no_fence) cuda::fence_proxy_async();
  if (kSlip != Slip::no_barrier) __syncthreads();
  if (threadIdx.x == 0) {
    cuda::cp_async_bulk_store(y, row, kRowBytes);
    if (kSlip != Slip::no_commit) cuda::cp_async_bulk_commit_group();
    if (kSlip != Slip::no_store_wait) cuda::cp_async_bulk_wait_group_read<0>();
  }
}

struct Row {
  alignas(16) std::array<float, kInRow + 4> number{};
};

struct Added {
  Row out;
  std::string fault;
};

template <Slip kSlip>
Added added(Order order = Order::ascending) {
  Row in;
  std::iota(in.number.begin(), in.number.end(), 1.0F);
  Added result;
  set_order(order);
  result.fault = fault_of([&] {
    add_one<kSlip><<<1, kInRow, kRowBytes + 32>>>(in.number.data(), result.out.number.data());
  });
  set_order(Order::ascending);
  return result;
}

TEST(BulkCopy, BytesComeAndGoInEveryOrder) {
  for (const Order order : {Order::ascending, Order::descending, Order::hesitant}) {
    const Added result = added<Slip::none>(order);
    ASSERT_EQ(result.fault, "");
    for (std::size_t i = 0; i < kInRow; ++i)
      ASSERT_EQ(result.out.number[i], 2.0F + static_cast<float>(i));
    ASSERT_EQ(result.out.number[kInRow], 0) << "a byte too many";
  }
}

TEST(BulkCopy, EveryMistakeIsAFault) {
  expect_fault(added<Slip::no_publish>().fault, "fence.mbarrier_init");
  expect_fault(added<Slip::no_fence>().fault, "a bulk store of shared memory written without");
  expect_fault(added<Slip::wrong_bytes>().fault, "lacks 0 arrivals and 16 bytes");
  expect_fault(added<Slip::no_commit>().fault, "TMA stores that are in no group");
  expect_fault(added<Slip::no_store_wait>().fault, "without waiting for its TMA stores");
  expect_fault(added<Slip::odd_size>().fault, "508 bytes, not a multiple of 16");
  expect_fault(added<Slip::odd_address>().fault, "not aligned to 16 bytes");
}

TEST(BulkCopy, DataIsNanBeforeTheWait) {
  const Added result = added<Slip::no_load_wait>();
  for (const float y : result.out.number)
    EXPECT_TRUE(std::isnan(y) || y == 0) << "stored too early";
}

// The copy engine then takes what the other warps have not written yet.
TEST(BulkCopy, AStoreBeforeTheBarrierTakesOldData) {
  const Added result = added<Slip::no_barrier>(Order::descending);
  const Added other = added<Slip::no_barrier>(Order::ascending);
  const auto wrong = [](const Added& run) {
    return !run.fault.empty() || run.out.number[64] != 66;
  };
  EXPECT_TRUE(wrong(result) || wrong(other));
}

// Whether relu/bulk serves a device of this compute capability with code of that one.
bool relu_serves(int device, int code) {
  set_compute_capability(device);
  set_ptx_capability(code);
  bool any = false;
  for (const auto& i : Registry::instance().implementations()) {
    if (i->technique.operation != "relu" || i->technique.name != "bulk") continue;
    any = HostRun(*i, Shape({{"n", 4099}})).launch() || any;
  }
  set_compute_capability(90);
  set_ptx_capability(90);
  return any;
}

// The driver compiles what a build for 8.9 has for a later device, and the kernel is then empty.
TEST(BulkCopy, CodeOfAnOlderDeviceIsUnsupported) {
  for (const int device : {90, 100, 120}) {
    EXPECT_TRUE(relu_serves(device, 90));
    EXPECT_FALSE(relu_serves(device, 89));
  }
}

}  // namespace
}  // namespace ridgebench::emulator
