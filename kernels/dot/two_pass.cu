// Dot product in two kernels. The first fills the device once and gives every thread an equal
// share, read in vectors of 16 bytes, four of each vector under way (kernels/common/cuda/dot.cuh);
// shuffles and shared memory leave one sum per block. The second, a single block, adds those in a
// fixed order: the same bits every time. The limit is memory bandwidth, that of reading.
#include <algorithm>

#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // leaves 64 registers to a thread

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    dot_of_block(const T* x, const T* y, std::int64_t n, float* partial) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  const float sum = block_sum<kThreads>(dot_share(x, y, n, n / kVectorElements<T>, first, step));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads)
    sum_of_blocks(const float* partial, unsigned count, float* s) {
  float share = 0;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) share += partial[i];
  const float sum = block_sum<kThreads>(share);
  if (threadIdx.x == 0) *s = sum;
}

struct Workspace {
  unsigned blocks;
  std::shared_ptr<void> partial;  // a float per block
};

template <class T>
Workspace prepare(Queue& queue, const Shape& shape) {
  const std::int64_t wanted =
      ceil_div(shape["n"], kThreads * kVectorsInFlight * kVectorElements<T>);
  const std::int64_t most = kBlocksPerSm * sm_count();
  const auto blocks = static_cast<unsigned>(std::min(wanted, most));
  return {blocks, queue.allocate(blocks * sizeof(float))};
}

template <class T>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const T* x, const T* y,
            float* s) {
  require_aligned(x);
  require_aligned(y);
  return [=, n = shape["n"], stream = stream_of(queue)] {
    auto* const partial = static_cast<float*>(workspace.partial.get());
    dot_of_block<<<workspace.blocks, kThreads, 0, stream>>>(x, y, n, partial);
    sum_of_blocks<<<1, kThreads, 0, stream>>>(partial, workspace.blocks, s);
  };
}

const Registration two_pass{
    {.operation = "dot", .name = "two_pass", .engine = Engine::fma, .arithmetic = Format::fp32},
    planned(prepare<float>, bind<float>),
    planned(prepare<Fp16>, bind<Fp16>),
    planned(prepare<Bf16>, bind<Bf16>),
    planned(prepare<Fp8E4m3>, bind<Fp8E4m3>),
    planned(prepare<Fp8E5m2>, bind<Fp8E5m2>)};

}  // namespace
}  // namespace ridgebench::cuda
