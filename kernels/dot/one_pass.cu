// Dot product in one kernel. Every block draws a ticket after it has written its sum. The block
// that draws the last ticket adds all sums in a fixed order, so the bits are the same every time.
// That saves a launch and the device's idle time between two kernels, much of the time of short
// vectors. The limit of long vectors is memory bandwidth, as before.
#include <algorithm>

#include "kernels/common/cuda/dot.cuh"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::dot_one_pass {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // leaves 64 registers to a thread

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    dot_one_pass(const T* x, const T* y, std::int64_t n, float* partial, unsigned* ticket,
                 float* s) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  const float sum = block_sum<kThreads>(dot_share(x, y, n, n / kVectorElements<T>, first, step));

  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();  // a thread that sees the ticket drawn sees the sum
    last = atomicAdd(ticket, 1U) == gridDim.x - 1;
    __threadfence();  // the sums are read after the ticket
  }
  __syncthreads();
  if (!last) return;

  float share = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) share += partial[i];
  const float total = block_sum<kThreads>(share);
  if (threadIdx.x == 0) {
    *s = total;
    *ticket = 0;  // for the next launch
  }
}

struct Workspace {
  unsigned blocks;
  std::shared_ptr<void> partial;  // a float per block
  std::shared_ptr<void> ticket;   // one unsigned, 0 between launches
};

template <class T>
Workspace prepare(Queue& queue, const Shape& shape) {
  const std::int64_t wanted =
      ceil_div(shape["n"], kThreads * kVectorsInFlight * kVectorElements<T>);
  const std::int64_t most = kBlocksPerSm * sm_count();
  const auto blocks = static_cast<unsigned>(std::min(wanted, most));
  Workspace workspace{blocks, queue.allocate(blocks * sizeof(float)),
                      queue.allocate(sizeof(unsigned))};
  check(cudaMemsetAsync(workspace.ticket.get(), 0, sizeof(unsigned), stream_of(queue)));
  return workspace;
}

template <class T>
Launch bind(Queue& queue, const Workspace& workspace, const Shape& shape, const T* x, const T* y,
            float* s) {
  require_aligned(x);
  require_aligned(y);
  return [=, n = shape["n"], stream = stream_of(queue)] {
    auto* const partial = static_cast<float*>(workspace.partial.get());
    auto* const ticket = static_cast<unsigned*>(workspace.ticket.get());
    dot_one_pass<<<workspace.blocks, kThreads, 0, stream>>>(x, y, n, partial, ticket, s);
  };
}

const Registration one_pass{
    {.operation = "dot", .name = "one_pass", .engine = Engine::fma, .arithmetic = Format::fp32},
    ElementTypes{},
    []<class T>() { return planned(prepare<T>, bind<T>); }};

}  // namespace ridgebench::cuda::dot_one_pass
