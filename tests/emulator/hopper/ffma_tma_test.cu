// The fp32 product on CUDA cores: both tiles, and what its warps hand to each other, with one
// mistake each and in its correct form.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/registry.hpp"
#include "kernels/matmul/hopper/ffma_thread.cuh"
#include "tests/emulator/fault_of.hpp"
#include "tests/support/awkward_shapes.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/host_run.hpp"

namespace ridgebench::emulator {
namespace {

namespace ffma = cuda::matmul_ffma_tma;
using SquareTile = ffma::FfmaTile<64, 64>;  // eight groups of one warp
using SquareCoord = ffma::ThreadCoord<SquareTile>;

constexpr int kRows = 64;
constexpr int kFfmaStages = 5;  // more than two trips round the rings
constexpr int kDepth = kFfmaStages * SquareTile::kK;
constexpr int kFfmaShared = sizeof(SquareTile::Shared) + 1024;

// The first fault in any order of threads, or "wrong"; empty if all sums are right.
template <class Run>
std::string first_mistake(const std::vector<float>& wanted, const Run& run) {
  for (const Order order : {Order::ascending, Order::descending, Order::hesitant}) {
    std::vector<float> sum(wanted.size());
    set_order(order);
    const std::string fault = fault_of([&] { run(sum.data()); });
    set_order(Order::ascending);
    if (!fault.empty()) return fault;
    if (sum != wanted) return "wrong";
  }
  return "";
}

enum class Handover {
  correct,
  no_wait_for_copy,       // a warp transposes a stage that TMA has not filled
  no_wait_for_lines,      // it overwrites lines that consumers still read
  early_commit,           // it offers lines before they are there
  early_release,          // it lets TMA overwrite what it still reads
  no_wait_for_transpose,  // a consumer reads lines before they are there
  early_release_of_lines  // it lets them be overwritten while it reads
};

template <Handover kHandover>
__device__ void transpose_stages(SquareTile::Shared& shared, int warp) {
  cuda::PipelineState<SquareTile::kStages> state;
  for (int i = 0; i < kFfmaStages; ++i, state.advance()) {
    if (kHandover != Handover::no_wait_for_copy) shared.pipeline.consumer_wait(state);
    if (kHandover == Handover::early_release) shared.pipeline.consumer_release(state.stage);
    if (kHandover != Handover::no_wait_for_lines) shared.lines.producer_acquire(state);
    if (kHandover == Handover::early_commit) shared.lines.producer_commit(state.stage);
    ffma::transpose_stage<SquareTile>(shared.transposed[state.stage], shared.stage[state.stage],
                                      warp);
    if (kHandover != Handover::early_commit) shared.lines.producer_commit(state.stage);
    if (kHandover != Handover::early_release) shared.pipeline.consumer_release(state.stage);
  }
}

// Sums each row of A and of B over the k of each stage: sum[stage][row of A, then of B]. The
// consumers are slow: they read a stage when the copy of the next one but one has arrived.
template <Handover kHandover>
__device__ void sum_lines(SquareTile::Shared& shared, int consumer, float* sum) {
  cuda::PipelineState<SquareTile::kStages> state;
  const int row = consumer % (2 * kRows);
  for (int i = 0; i < kFfmaStages; ++i, state.advance()) {
    if (kHandover != Handover::no_wait_for_transpose) shared.lines.consumer_wait(state);
    if (kHandover == Handover::early_release_of_lines) shared.lines.consumer_release(state.stage);
    if (i + SquareTile::kStages < kFfmaStages) {
      cuda::mbarrier_wait_parity(shared.pipeline.full[state.stage], state.phase ^ 1U);
    }
    float total = 0;
    for (int k = 0; k < SquareTile::kK; ++k) {
      const std::byte* const line = shared.transposed[state.stage] + k * SquareTile::kLineBytes;
      total += reinterpret_cast<const float*>(line)[row ^ 1];
    }
    if (consumer < 2 * kRows) sum[i * 2 * kRows + row] = total;
    __syncwarp();
    if (kHandover != Handover::early_release_of_lines) {
      shared.lines.consumer_release(state.stage);
    }
  }
}

template <Handover kHandover>
__global__ void hand_over(const __grid_constant__ cuda::TensorMap a,
                          const __grid_constant__ cuda::TensorMap b, float* sum) {
  extern __shared__ alignas(1024) std::byte memory[];
  auto& shared = *reinterpret_cast<SquareTile::Shared*>(memory);
  if (threadIdx.x == 0) {
    shared.pipeline.init(SquareTile::kReleasingWarps);
    shared.init();
  }
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    cuda::load_tile<Layout::nt, float, SquareTile>(shared.stage, shared.pipeline, a, b, 0, 0,
                                                   kFfmaStages);
  } else if (thread >= cuda::kWarpgroup) {
    sum_lines<kHandover>(shared, thread - cuda::kWarpgroup, sum);
  } else if (thread >= cuda::kWarp) {
    transpose_stages<kHandover>(shared, thread / cuda::kWarp - 1);
  }
}

template <Handover kHandover>
std::string hands_over() {
  std::vector<float> x(2 * kRows * kDepth);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761U >> 13U & 7U);
  std::vector<float> wanted(2 * kRows * kFfmaStages, 0);
  for (int row = 0; row < 2 * kRows; ++row) {
    for (int k = 0; k < kDepth; ++k) {
      wanted[k / SquareTile::kK * 2 * kRows + row] += x[row * kDepth + k];
    }
  }
  const auto map = [&](int operand) {
    return cuda::tensor_map(x.data() + operand * kRows * kDepth, kRows, kDepth, cuda::kBoxRows,
                            SquareTile::kK, cuda::Swizzle::bytes_128);
  };
  cuda::set_max_dynamic_shared_bytes(hand_over<kHandover>, kFfmaShared);
  return first_mistake(wanted, [&](float* sum) {
    hand_over<kHandover><<<1, cuda::kWarpSpecialisedThreads, kFfmaShared>>>(map(0), map(1), sum);
  });
}

TEST(FfmaTma, WarpsHandStagesOver) {
  EXPECT_EQ(hands_over<Handover::correct>(), "");
  EXPECT_NE(hands_over<Handover::no_wait_for_copy>(), "");
  EXPECT_NE(hands_over<Handover::no_wait_for_lines>(), "");
  EXPECT_NE(hands_over<Handover::early_commit>(), "");
  EXPECT_NE(hands_over<Handover::early_release>(), "");
  EXPECT_NE(hands_over<Handover::no_wait_for_transpose>(), "");
  EXPECT_NE(hands_over<Handover::early_release_of_lines>(), "");
}

enum class Meeting { correct, half_of_the_warps, none_after };

// Two tiles whose sums are those of the thread, its group and the element.
template <Meeting kMeeting>
__global__ void add_two_tiles(float* total) {
  extern __shared__ alignas(1024) std::byte memory[];
  auto& shared = *reinterpret_cast<SquareTile::Shared*>(memory);
  if (threadIdx.x == 0) {
    cuda::mbarrier_init(shared.groups, kMeeting == Meeting::half_of_the_warps
                                           ? cuda::kConsumerWarps / 2
                                           : cuda::kConsumerWarps);
    cuda::fence_mbarrier_init();
  }
  __syncthreads();
  const SquareCoord coord(static_cast<int>(threadIdx.x));
  unsigned phase = 0;
  for (int tile = 0; tile < 2; ++tile) {
    ffma::ThreadAccumulators d;
    for (int i = 0; i < ffma::kThreadM * ffma::kThreadN; ++i) {
      d[i / ffma::kThreadN][i % ffma::kThreadN] =
          static_cast<float>((tile + 1) * (coord.group + 1) * (i + coord.thread));
    }
    ffma::add_groups<SquareTile>(d, shared, coord, phase);
    if (kMeeting != Meeting::none_after) ffma::meet_consumers(shared.groups, phase);
    for (int c = 0; c < ffma::kThreadN; ++c) {
      total[(tile * 256 + static_cast<int>(threadIdx.x)) * ffma::kThreadN + c] = d[0][c];
    }
  }
}

template <Meeting kMeeting>
std::string adds_groups() {
  std::vector<float> wanted;
  for (int tile = 0; tile < 2; ++tile) {
    for (int thread = 0; thread < 256; ++thread) {
      for (int c = 0; c < ffma::kThreadN; ++c) {
        const int element = thread / 32 * ffma::kThreadN + c;  // group g has row g of 8
        wanted.push_back(static_cast<float>((tile + 1) * 36 * (element + thread % 32)));
      }
    }
  }
  cuda::set_max_dynamic_shared_bytes(add_two_tiles<kMeeting>, kFfmaShared);
  return first_mistake(
      wanted, [](float* total) { add_two_tiles<kMeeting><<<1, 256, kFfmaShared>>>(total); });
}

TEST(FfmaTma, GroupsAddTheirSums) {
  EXPECT_EQ(adds_groups<Meeting::correct>(), "");
  EXPECT_NE(adds_groups<Meeting::half_of_the_warps>(), "");
  EXPECT_NE(adds_groups<Meeting::none_after>(), "");
}

const Implementation& ffma_tma(std::string_view operation) {
  for (const auto& i : Registry::instance().implementations()) {
    if (i->technique.name == "ffma_tma" && i->operation->name == operation) return *i;
  }
  throw std::logic_error("no ffma_tma");
}

// Ragged products with and without vectors to store, on one multiprocessor and on many.
TEST(FfmaTma, BothTilesAreRight) {
  set_compute_capability(90);
  for (const auto& [multiprocessors, tile] : {std::pair(1, "tile 128x256"), {64, "tile 64x128"}}) {
    set_multiprocessors(multiprocessors);
    for (const std::int64_t n : {508, 511}) {
      const Shape shape({{"m", 300}, {"n", n}, {"k", 100}});
      for (const char* const operation : {"matmul", "matmul_gelu"}) {
        SCOPED_TRACE(std::string(operation) + " " + tile + " " + shape.text());
        const Implementation& implementation = ffma_tma(operation);
        HostQueue queue;
        EXPECT_EQ(implementation.choice(implementation.prepare(queue, shape)), tile);
        HostRun run(implementation, shape);
        run.fill(Fill::normal);
        run.launch();
        EXPECT_LE(run.verify().error, 1);
        if (!exact_on_integers(*implementation.operation)) continue;
        run.fill(Fill::integers);
        run.launch();
        EXPECT_TRUE(run.verify().exact);
      }
    }
  }
  set_multiprocessors(kMultiprocessors);
}

}  // namespace
}  // namespace ridgebench::emulator
