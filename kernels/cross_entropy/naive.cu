// Cross-entropy and its gradient in three passes over each row, a block per row and an element per
// thread and step: the maximum, the sum of exponentials, and the gradient, for which each
// exponential is computed again. A row of a vocabulary is long, so that the second and third pass
// load it from level 2 or from memory. The limit is the issue of instructions and, in fp32, those
// loads.
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::cross_entropy_naive {

constexpr int kThreads = 256;

// of_row: 1 over the number of rows.
template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_naive(const T* logits, const std::int32_t* labels, float* loss, T* dlogits,
                        std::int64_t n, float of_row) {
  const T* const x = logits + std::int64_t{blockIdx.x} * n;
  T* const dx = dlogits + std::int64_t{blockIdx.x} * n;
  const std::int64_t label = labels[blockIdx.x];
  float max = -FLT_MAX;
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) max = fmaxf(max, to_float(x[j]));
  max = block_all<kThreads>(max, Max{});
  float sum = 0;
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) sum += expf(to_float(x[j]) - max);
  sum = block_all<kThreads>(sum, Sum{});
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) {
    const float p = expf(to_float(x[j]) - max) / sum;
    dx[j] = from_float<T>((j == label ? p - 1 : p) * of_row);
  }
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) - (to_float(x[label]) - max);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* logits, const std::int32_t* labels,
            float* loss, T* dlogits) {
  const std::int64_t m = shape["m"];
  const float of_row = 1 / static_cast<float>(m);
  return [=, n = shape["n"], blocks = blocks_for(m, 1), stream = stream_of(queue)] {
    cross_entropy_naive<<<blocks, kThreads, 0, stream>>>(logits, labels, loss, dlogits, n, of_row);
  };
}

const Registration naive{{.operation = "cross_entropy",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_rows},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::cross_entropy_naive
