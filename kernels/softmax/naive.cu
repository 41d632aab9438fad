// Softmax in three passes over each row, a block per row and an element per thread and step: the
// maximum, the sum of exponentials, and the quotients, for which each exponential is computed
// again. The row is loaded three times, the second and third time from a cache if it stays there.
// The limit is the issue of instructions and, in fp32, the bandwidth of the caches.
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::softmax_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) softmax_naive(const T* x, T* y, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * n;
  float max = -FLT_MAX;
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) {
    max = fmaxf(max, to_float(x[first + j]));
  }
  max = block_all<kThreads>(max, Max{});
  float sum = 0;
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads)
    sum += expf(to_float(x[first + j]) - max);
  sum = block_all<kThreads>(sum, Sum{});
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) {
    y[first + j] = from_float<T>(expf(to_float(x[first + j]) - max) / sum);
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [=, n = shape["n"], blocks = blocks_for(shape["m"], 1), stream = stream_of(queue)] {
    softmax_naive<<<blocks, kThreads, 0, stream>>>(x, y, n);
  };
}

const Registration naive{{.operation = "softmax",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_rows},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::softmax_naive
