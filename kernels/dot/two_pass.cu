// Dot product in two kernels. The first fills the device once and gives every thread an equal
// share, read in vectors of 16 bytes, four of x and y in flight (kernels/common/cuda/dot.cuh).
// Shuffles and shared memory leave one sum per block. The second, a single block, adds those in a
// fixed order, so the bits are the same every time. The limit is memory bandwidth, that of reading.
#include <algorithm>

#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::dot_two_pass {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // leaves 64 registers to a thread

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    dot_two_pass(const T* x, const T* y, std::int64_t n, float* partial) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  const float sum = block_sum<kThreads>(dot_share(x, y, n, n / kVectorElements<T>, first, step));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads)
    dot_two_pass_sum(const float* partial, unsigned count, float* s) {
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
    dot_two_pass<<<workspace.blocks, kThreads, 0, stream>>>(x, y, n, partial);
    dot_two_pass_sum<<<1, kThreads, 0, stream>>>(partial, workspace.blocks, s);
  };
}

const Registration two_pass{
    {.operation = "dot", .name = "two_pass", .engine = Engine::fma, .arithmetic = Format::fp32},
    ElementTypes{},
    []<class T>() { return planned(prepare<T>, bind<T>); }};

}  // namespace ridgebench::cuda::dot_two_pass
