// Stages that the four blocks of a cluster load for each other, with one mistake each: the protocol
// of kernels/matmul/hopper/persistent.cuh without its products. And a dependent launch that does
// not wait for the kernel ahead.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/matmul/hopper/mainloop.cuh"
#include "tests/emulator/fault_of.hpp"

namespace ridgebench::emulator {
namespace {

constexpr unsigned kBlocks = 4;
constexpr int kRing = 2;      // stages that fit
constexpr int kLoads = 6;     // three trips round the ring
constexpr int kColumns = 32;  // floats of a row of a box

enum class Fault4 {
  none,
  few_arrivals,   // the empty barriers do not count all blocks of the cluster
  own_release,    // a consumer releases its own block's stage only
  early_release,  // before it has read the stage
  late_init,      // no barrier between the initialisation and the first multicast
  no_end,         // a block ends while others may still arrive at its barriers
  relaxed_end,    // the same, as this barrier does not wait until the arrivals have come
  no_wait_ahead,  // the producer does not wait for the kernel ahead
};

template <int kBoxes>
struct StagesOf {
  std::byte stage[kRing][kBoxes * cuda::kBoxBytes];
  cuda::TmaPipeline<kRing> pipeline;
};

// Warp 0 of each block loads, warp 1 adds up what it sees of each stage.
template <Fault4 kFault, int kBoxes>
__global__ void share_stages(const __grid_constant__ cuda::TensorMap from, float* sums) {
  extern __shared__ alignas(1024) std::byte memory[];
  auto& shared = *reinterpret_cast<StagesOf<kBoxes>*>(memory);
  const unsigned cluster = cuda::cluster_nctarank();
  const unsigned rank = cuda::cluster_ctarank();
  if (threadIdx.x == 0) {
    shared.pipeline.init(static_cast<int>(kFault == Fault4::few_arrivals ? cluster / 2 : cluster));
  }
  __syncwarp();
  if (kFault != Fault4::late_init) cuda::cluster_sync_relaxed();
  cuda::PipelineState<kRing> state;
  if (threadIdx.x == 0) {
    if (kFault != Fault4::no_wait_ahead) cuda::griddepcontrol_wait();
    for (int i = 0; i < kLoads; ++i, state.advance()) {
      cuda::Barrier& full = shared.pipeline.producer_acquire(state, kBoxes * cuda::kBoxBytes);
      cuda::load_operand_multicast<true, kBoxes>(shared.stage[state.stage], from, 0, i * kColumns,
                                                 full, rank, cluster);
    }
    if (kFault != Fault4::no_end && kFault != Fault4::relaxed_end) {
      shared.pipeline.producer_tail(state);
    }
  } else if (threadIdx.x >= cuda::kWarp) {
    for (int i = 0; i < kLoads; ++i, state.advance()) {
      shared.pipeline.consumer_wait(state);
      const auto release = [&] {
        if (kFault == Fault4::own_release) {
          shared.pipeline.consumer_release(state.stage);
        } else {
          shared.pipeline.consumer_release(state.stage, cluster);
        }
      };
      if (kFault == Fault4::early_release) release();
      const auto* const x = reinterpret_cast<const float*>(shared.stage[state.stage]);
      float sum = 0;
      for (int j = threadIdx.x % cuda::kWarp; j < kBoxes * cuda::kBoxRows * kColumns;
           j += cuda::kWarp) {
        sum += x[j];
      }
      sums[(blockIdx.x * kLoads + i) * cuda::kWarp + threadIdx.x % cuda::kWarp] = sum;
      __syncwarp();
      if (kFault != Fault4::early_release) release();
    }
  }
  __syncwarp();
  if (kFault == Fault4::relaxed_end) cuda::cluster_sync_relaxed();
}

// "" where all blocks see every number of all stages; otherwise the fault, or "wrong sums".
template <Fault4 kFault, int kBoxes>
std::string shared_by_four(Order order) {
  constexpr int rows = kBoxes * cuda::kBoxRows;
  std::vector<float> x(std::size_t{rows} * kLoads * kColumns + 4);
  float* const aligned = x.data() + (16 - reinterpret_cast<std::uintptr_t>(x.data()) % 16) % 16 / 4;
  std::vector<float> expected(kLoads, 0);
  for (int i = 0; i < rows * kLoads * kColumns; ++i) {
    aligned[i] = static_cast<float>(i * 7 % 31);
    expected[i % (kLoads * kColumns) / kColumns] += aligned[i];
  }
  const cuda::TensorMap from = cuda::tensor_map(aligned, rows, kLoads * kColumns, cuda::kBoxRows,
                                                kColumns, cuda::Swizzle::bytes_128);
  std::vector<float> sums(std::size_t{2 * kBlocks} * kLoads * cuda::kWarp, -1);
  constexpr auto kernel = share_stages<kFault, kBoxes>;
  constexpr int bytes = sizeof(StagesOf<kBoxes>);
  cuda::set_max_dynamic_shared_bytes(kernel, bytes);
  set_order(order);
  const std::string fault = fault_of([&] {
    cuda::launch(kernel,
                 {.blocks = dim3(2 * kBlocks),
                  .threads = 2 * cuda::kWarp,
                  .shared_bytes = bytes,
                  .stream = nullptr,
                  .cluster = kBlocks,
                  .dependent_launch = true},
                 from, sums.data());
  });
  set_order(Order::ascending);
  if (!fault.empty()) return fault;
  for (unsigned i = 0; i < 2 * kBlocks * kLoads; ++i) {
    const auto* const first = &sums[std::size_t{i} * cuda::kWarp];
    if (std::accumulate(first, first + cuda::kWarp, 0.0F) != expected[i % kLoads]) {
      return "wrong sums";
    }
  }
  return "";
}

template <Fault4 kFault, int kBoxes = 4>
std::string in_any_order() {
  std::string text;
  for (const Order order : {Order::ascending, Order::descending, Order::hesitant}) {
    text += shared_by_four<kFault, kBoxes>(order);
  }
  return text;
}

// With 1, 2 or 3 boxes, some blocks load none; with 4, each loads one.
TEST(SharedStages, FourBlocksSeeEveryBoxOnce) {
  EXPECT_EQ((in_any_order<Fault4::none, 1>()), "");
  EXPECT_EQ((in_any_order<Fault4::none, 2>()), "");
  EXPECT_EQ((in_any_order<Fault4::none, 3>()), "");
  EXPECT_EQ((in_any_order<Fault4::none, 4>()), "");
}

TEST(SharedStages, EveryMistakeShows) {
  EXPECT_NE(in_any_order<Fault4::few_arrivals>(), "");
  EXPECT_NE(in_any_order<Fault4::early_release>(), "");
  EXPECT_NE(in_any_order<Fault4::late_init>(), "");
  expect_fault(in_any_order<Fault4::own_release>(), "deadlock");
  expect_fault(in_any_order<Fault4::no_end>(), "of its cluster, which has ended");
  expect_fault(in_any_order<Fault4::relaxed_end>(), "an arrival of another block may be under way");
  expect_fault(in_any_order<Fault4::no_wait_ahead>(), "TMA before griddepcontrol.wait");
}

}  // namespace
}  // namespace ridgebench::emulator
