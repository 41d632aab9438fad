// Chains of multiply-adds on every SM, between two readings of the GPU's timer. A block takes all
// shared memory that it can have, so that no SM holds two. The limit is an SM's multiply-add units:
// a launch takes as long as the slowest SM, and the record has the time of each.
#include <limits>
#include <vector>

#include "kernels/ceilings/sweep/sm_times.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/ptx/special_registers.cuh"

namespace ridgebench::cuda::ceilings_sm_times {

constexpr int kThreads = static_cast<int>(kSmTimesThreads);
constexpr int kChains = static_cast<int>(kFmaChains);
constexpr int kSteps = 16;           // of each chain in one turn of the loop
constexpr unsigned kMostSms = 1024;  // numbers of SMs: the largest GPUs have fewer than 200

// Blocks and clocks of an SM since the row began.
struct Total {
  unsigned long long blocks, nanoseconds;
};

// After all threads of the block have come so far. The fence of the chains keeps the compiler from
// moving them to the other side of it.
__device__ long long time_of_block(float (&chain)[kChains]) {
#pragma unroll
  for (float& c : chain) asm volatile("" : "+f"(c)::"memory");
  __syncthreads();
  return globaltimer();
}

__global__ void __launch_bounds__(kThreads)
    sm_times(const float* x, float* y, std::int64_t n, int iterations, float factor, float addend,
             Total* totals) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kThreads * kChains) + threadIdx.x;
  float chain[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) {
    const std::int64_t i = first + k * kThreads;
    chain[k] = i < n ? x[i] : 0;
  }
  const long long start = time_of_block(chain);
#pragma unroll kSteps
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (float& c : chain) c = fmaf(factor, c, addend);
  }
  const long long end = time_of_block(chain);
  const unsigned sm = smid();
  if (threadIdx.x == 0 && sm < kMostSms) {
    atomicAdd(&totals[sm].blocks, 1);
    atomicAdd(&totals[sm].nanoseconds, static_cast<unsigned long long>(end - start));
  }
#pragma unroll
  for (int k = 0; k < kChains; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i < n) y[i] = chain[k];
  }
}

struct State {
  std::shared_ptr<Total> totals;
  int shared_bytes;
  cudaStream_t stream;

  // After a case has run: seconds of a block on each SM, up to the last one that had a block.
  [[nodiscard]] std::vector<double> unit_times() const {
    std::vector<Total> all(kMostSms);
    check(cudaMemcpyAsync(all.data(), totals.get(), kMostSms * sizeof(Total),
                          cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    while (!all.empty() && all.back().blocks == 0) all.pop_back();
    std::vector<double> seconds;
    for (const Total& total : all) {
      const bool known = total.blocks > 0;
      seconds.push_back(known ? 1e-9 * static_cast<double>(total.nanoseconds) /
                                    static_cast<double>(total.blocks)
                              : std::numeric_limits<double>::quiet_NaN());
    }
    return seconds;
  }
};

State prepare(Queue& queue, const Shape& /*shape*/) {
  State state{.totals = std::static_pointer_cast<Total>(queue.allocate(kMostSms * sizeof(Total))),
              .shared_bytes = 0,
              .stream = stream_of(queue)};
  check(cudaMemsetAsync(state.totals.get(), 0, kMostSms * sizeof(Total), state.stream));
  int device = 0;
  check(cudaGetDevice(&device));
  check(
      cudaDeviceGetAttribute(&state.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  set_max_dynamic_shared_bytes(sm_times, state.shared_bytes);
  return state;
}

Launch bind(Queue& queue, const State& state, const Shape& shape, const float* x, float* y) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads * kChains),
          iterations = chain_length(shape["iterations"]), totals = state.totals,
          shared_bytes = state.shared_bytes, stream = stream_of(queue)] {
    const FmaStep step(iterations);
    sm_times<<<blocks, kThreads, shared_bytes, stream>>>(x, y, n, iterations, step.factor,
                                                         step.addend, totals.get());
  };
}

const Registration registers{{.operation = "sm_times",
                              .name = "registers",
                              .engine = Engine::fma,
                              .supports =
                                  [](const Machine&, const Shape& s, FormatPair) {
                                    const auto reason = chain_limit(s["iterations"]);
                                    return reason ? reason : grid_limit(s["n"], kThreads * kChains);
                                  }},
                             planned(prepare, bind)};

}  // namespace ridgebench::cuda::ceilings_sm_times
