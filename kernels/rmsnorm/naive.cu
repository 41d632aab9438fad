// RMSNorm in two passes over each row, a block per row and an element per thread and step: the sum
// of squares, then the products. The limit is the number of loads in flight: each is of one
// element.
#include "kernels/common/cuda/reduce.cuh"
#include "kernels/common/cuda/rows.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::rmsnorm_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_naive(const T* x, const T* w, T* y, std::int64_t n, float eps) {
  const std::int64_t first = std::int64_t{blockIdx.x} * n;
  float sum = 0;
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) {
    const float value = to_float(x[first + j]);
    sum += value * value;
  }
  sum = block_all<kThreads>(sum, Sum{});
  const float scale = 1 / sqrtf(sum / static_cast<float>(n) + eps);
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) {
    y[first + j] = from_float<T>(to_float(x[first + j]) * scale * to_float(w[j]));
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* w, T* y) {
  const auto eps = static_cast<float>(shape.attribute("eps"));
  return [=, n = shape["n"], blocks = blocks_for(shape["m"], 1), stream = stream_of(queue)] {
    rmsnorm_naive<<<blocks, kThreads, 0, stream>>>(x, w, y, n, eps);
  };
}

const Registration naive{{.operation = "rmsnorm",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_rows},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::rmsnorm_naive
