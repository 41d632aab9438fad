// Dot product in one kernel, whose last block adds the sums of all, in a fixed order, so that the
// bits are the same every time: no second launch, and no idle device before it. A block reads one
// stretch of each vector and ends; the next block takes its place at once, so that all blocks read
// close together, where a grid that stays would drift apart in memory. The limit is memory
// bandwidth, that of reading.
#include <algorithm>

#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/grid_sum.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::dot_one_pass {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // leaves 64 registers to a thread
constexpr std::int64_t kVectorsAtOnce = kThreads * kVectorsInFlight;
// 64 KiB of each vector, as the rows that matvec/row_per_block reads at the rate of the read
// ceiling.
constexpr std::int64_t kMostRounds = 4;

// of_block: the vectors of a block.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    dot_one_pass(const T* x, const T* y, std::int64_t n, std::int64_t of_block, GridSum grid,
                 float* s) {
  const std::int64_t first = blockIdx.x * of_block * kVectorElements<T>;
  const bool last = blockIdx.x == gridDim.x - 1;
  const std::int64_t own = last ? n - first : of_block * kVectorElements<T>;
  const float share = dot_share(x + first, y + first, own, own / kVectorElements<T>,
                                std::int64_t{threadIdx.x}, std::int64_t{kThreads});
  add_to_grid_sum<kThreads>(block_sum<kThreads>(share), grid, s);
}

struct Stretches {
  std::int64_t of_block;  // vectors
  unsigned blocks;
  GridSumMemory memory;
};

// Blocks of short vectors have one round, so that as many SMs as possible read; those of long ones
// have more, and are still twice as many as the device holds.
template <class T>
Stretches prepare(Queue& queue, const Shape& shape) {
  const std::int64_t at_once = ceil_div(shape["n"], kVectorsAtOnce * kVectorElements<T>);
  const std::int64_t resident = std::int64_t{kBlocksPerSm} * sm_count();
  const std::int64_t rounds = std::clamp(at_once / (2 * resident), std::int64_t{1}, kMostRounds);
  const std::int64_t of_block = kVectorsAtOnce * rounds;
  const unsigned blocks = blocks_for(shape["n"], of_block * kVectorElements<T>);
  return {of_block, blocks, GridSumMemory(queue, blocks)};
}

template <class T>
Launch bind(Queue& queue, const Stretches& stretches, const Shape& shape, const T* x, const T* y,
            float* s) {
  require_aligned(x);
  require_aligned(y);
  return [=, n = shape["n"], stream = stream_of(queue)] {
    dot_one_pass<<<stretches.blocks, kThreads, 0, stream>>>(x, y, n, stretches.of_block,
                                                            stretches.memory.get(), s);
  };
}

const Registration one_pass{
    {.operation = "dot", .name = "one_pass", .engine = Engine::fma, .arithmetic = Format::fp32},
    ElementTypes{},
    []<class T>() { return planned(prepare<T>, bind<T>); }};

}  // namespace ridgebench::cuda::dot_one_pass
