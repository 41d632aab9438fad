// A sum over a whole grid in one kernel: every block draws a ticket after it has written its sum,
// and the block that draws the last ticket adds all sums. A second kernel would be timed as well.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/queue.hpp"

namespace ridgebench::cuda {

// One float per block, and a counter that is 0 between launches.
struct GridSum {
  float* partial;
  unsigned* ticket;
};

// All threads of all blocks call it once, as the last thing they do; `block_sum` counts in thread
// 0. The sums are added in double and in a fixed order, so the bits are the same every time.
template <int kThreads>
__device__ void add_to_grid_sum(float block_sum, const GridSum& grid, float* sum) {
  const unsigned thread = threadIdx.x;
  __shared__ bool last;
  if (thread == 0) {
    grid.partial[blockIdx.x] = block_sum;
    __threadfence();  // a thread that sees the ticket drawn sees the sum
    last = atomicAdd(grid.ticket, 1U) == gridDim.x - 1;
    if (last) __threadfence();  // the sums are read after the ticket
  }
  __syncthreads();
  if (!last) return;

  double own = 0;
  const unsigned fours = gridDim.x / 4;
#pragma unroll 8
  for (unsigned i = thread; i < fours; i += kThreads) {
    const float4 four = __ldcg(reinterpret_cast<const float4*>(grid.partial) + i);
    own += (static_cast<double>(four.x) + four.y) + (static_cast<double>(four.z) + four.w);
  }
  if (thread < gridDim.x % 4) own += __ldcg(grid.partial + 4 * fours + thread);
  const double total = cuda::block_sum<kThreads>(own);
  if (thread == 0) {
    *sum = static_cast<float>(total);
    *grid.ticket = 0;  // for the next launch
  }
}

// The device memory of a GridSum; a launch keeps it alive.
class GridSumMemory {
 public:
  GridSumMemory(Queue& queue, unsigned blocks)
      : partial_(queue.allocate(blocks * sizeof(float))),
        ticket_(queue.allocate(sizeof(unsigned))) {
    check(cudaMemsetAsync(ticket_.get(), 0, sizeof(unsigned), stream_of(queue)));
  }
  [[nodiscard]] GridSum get() const {
    return {static_cast<float*>(partial_.get()), static_cast<unsigned*>(ticket_.get())};
  }

 private:
  std::shared_ptr<void> partial_;
  std::shared_ptr<void> ticket_;
};

// A grid whose blocks each read one stretch of an array, and the memory of their sum.
struct Stretches {
  std::int64_t of_block;  // elements; the last block may have fewer
  unsigned blocks;
  GridSumMemory memory;
};

// For n elements, of which a block reads `at_once` in a round, on a device that holds `resident`
// blocks. Blocks of short arrays have one round, so that as many SMs as possible read. Those of
// long arrays have up to four, and are still twice as many as the device holds: a block ends with a
// fence and an atomic, which took 6 % of an H200's rate after one round of 64 KiB, and 0.4 % after
// four (a trial on 2026-11-27).
inline Stretches stretches_of(Queue& queue, std::int64_t n, std::int64_t at_once,
                              std::int64_t resident) {
  constexpr std::int64_t most_rounds = 4;
  const std::int64_t rounds =
      std::clamp(ceil_div(n, at_once) / (2 * resident), std::int64_t{1}, most_rounds);
  const unsigned blocks = blocks_for(n, rounds * at_once);
  return {rounds * at_once, blocks, GridSumMemory(queue, blocks)};
}

}  // namespace ridgebench::cuda
