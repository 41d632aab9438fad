// Dot product in one kernel, whose last block adds the sums of all, in a fixed order, so that the
// bits are the same every time: no second launch, and no idle device before it. A block reads one
// stretch of each vector and ends; the next block takes its place at once, so that all blocks read
// close together, where a grid that stays would drift apart in memory. The limit is memory
// bandwidth, that of reading.
#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/grid_sum.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::dot_one_pass {

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;  // leaves 64 registers to a thread

// of_block: the elements of a block.
template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    dot_one_pass(const T* x, const T* y, std::int64_t n, std::int64_t of_block, GridSum grid,
                 float* s) {
  const std::int64_t first = blockIdx.x * of_block;
  const std::int64_t own = blockIdx.x == gridDim.x - 1 ? n - first : of_block;
  const float share = dot_share(x + first, y + first, own, own / kVectorElements<T>,
                                std::int64_t{threadIdx.x}, std::int64_t{kThreads});
  add_to_grid_sum<kThreads>(block_sum<kThreads>(share), grid, s);
}

// A block reads 128 KiB of each long vector: on an H200 512 threads reach the read ceiling with
// that, and 256 threads stay 1 % below it.
template <class T>
Stretches prepare(Queue& queue, const Shape& shape) {
  constexpr std::int64_t at_once = kThreads * kVectorsInFlight * kVectorElements<T>;
  return stretches_of(queue, shape["n"], at_once, std::int64_t{kBlocksPerSm} * sm_count());
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
