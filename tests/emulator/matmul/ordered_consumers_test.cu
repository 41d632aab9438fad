// The order in which the consumers of a promoted product start: kernels with one mistake each, and
// the correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/matmul/hopper/wgmma_persistent.cuh"
#include "tests/emulator/in_every_order.hpp"

namespace ridgebench::emulator {
namespace {

using cuda::kConsumers;
using cuda::kWarpgroup;

enum class Mistake { none, no_arrival, no_wait };

constexpr int kStages = 2;  // of the ring
constexpr int kTiles = 5;

// Two consumers of a ring of stages, as in multiply_tile_promoted: in each tile the second one
// waits until the first one has ended its first stage. It then sees what the first one wrote.
template <Mistake kMistake>
__global__ void work_in_order(int stages_of_tile, float* seen) {
  __shared__ cuda::TmaPipeline<kStages> pipeline;
  __shared__ float from_first[kWarpgroup];
  if (threadIdx.x == 0) pipeline.init(cuda::kConsumerWarps);
  __syncthreads();
  cuda::PipelineState<kStages> state;
  if (threadIdx.x < kWarpgroup) {
    if (threadIdx.x > 0) return;
    for (int i = 0; i < kTiles * stages_of_tile; ++i, state.advance()) {
      pipeline.producer_acquire(state, 0);
    }
    return;
  }
  constexpr int threads = kConsumers * kWarpgroup;
  const unsigned thread = threadIdx.x % kWarpgroup;
  const bool leads = cuda::warpgroup_index() == 1;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (!leads && kMistake != Mistake::no_wait) {
      cuda::named_barrier_sync<threads>(cuda::kSecondConsumerStarts);
    }
    for (int i = 0; i < stages_of_tile; ++i, state.advance()) {
      pipeline.consumer_wait(state);
      if (leads && tile == 0 && i == 0) from_first[thread] = 1;
      if (!leads && tile == 0 && i == 0) seen[thread] = from_first[kWarpgroup - 1 - thread];
      if (leads && i == 0 && kMistake != Mistake::no_arrival) {
        cuda::named_barrier_arrive<threads>(cuda::kSecondConsumerStarts);
      }
      __syncwarp();
      pipeline.consumer_release(state.stage);
    }
  }
}

struct Result {
  std::string fault;
  float seen = 0;  // the sum over all threads of the second consumer
};

template <Mistake kMistake, int kStagesOfTile>
Result result() {
  std::array<float, kWarpgroup> seen{};
  const std::string fault = fault_of([&] {
    work_in_order<kMistake><<<1, cuda::kWarpSpecialisedThreads>>>(kStagesOfTile, seen.data());
  });
  return {fault, std::accumulate(seen.begin(), seen.end(), 0.0F)};
}

TEST(OrderedConsumers, TheSecondStartsAfterTheFirst) {
  for (const Result& right : in_every_order(result<Mistake::none, kStages>)) {
    EXPECT_EQ(right.fault, "");
    EXPECT_EQ(right.seen, kWarpgroup);
  }
}

TEST(OrderedConsumers, AMissingArrivalIsADeadlock) {
  for (const Result& wrong : in_every_order(result<Mistake::no_arrival, kStages>)) {
    expect_fault(wrong.fault, "barrier 3, for threads that do not come");
  }
}

TEST(OrderedConsumers, AMissingWaitIsSeen) {
  bool seen = false;
  for (const Result& wrong : in_every_order(result<Mistake::no_wait, kStages>)) {
    seen = seen || std::isnan(wrong.seen);
  }
  EXPECT_TRUE(seen);
}

// Why short tiles are not ordered: the ring lets the first consumer be a tile ahead, and its second
// arrival completes the barrier of its first.
TEST(OrderedConsumers, TilesShorterThanTheRingWouldBeADeadlock) {
  std::string faults;
  for (const Result& wrong : in_every_order(result<Mistake::none, kStages - 1>)) {
    faults += wrong.fault;
  }
  expect_fault(faults, "for threads that do not come");
}

}  // namespace
}  // namespace ridgebench::emulator
