// Gradient of GeLU, one thread per element, by the accurate exponential and division. The limit is
// memory bandwidth, nearly, in fp32; in narrower formats a thread keeps too few bytes in flight.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/gelu_slope.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::gelu_backward_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void gelu_backward_naive(const T* x, const T* dy, T* dx, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) {
    const float inside = gelu_slope_range(to_float(x[i]));
    const float p = exp2f(gelu_slope_exponent(inside));
    dx[i] = from_float<T>(to_float(dy[i]) * gelu_slope(inside, p, 1 / (1 + p)));
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* dy, T* dx) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    gelu_backward_naive<<<blocks, kThreads, 0, stream>>>(x, dy, dx, n);
  };
}

const Registration naive{{.operation = "gelu_backward",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_elements<kThreads>},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::gelu_backward_naive
