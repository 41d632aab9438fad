// GeLU as the lecture writes it, one thread per element, with the CUDA library's tanhf: about
// twenty instructions, two of them on the special-function units. In fp32 the eight bytes of an
// element take longer, and the limit is memory bandwidth. In fp8, with two bytes, it is instruction
// issue.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::gelu_naive {

constexpr int kThreads = 256;

// 0.797884561 = sqrt(2/pi)
__device__ float gelu(float x) {
  return 0.5F * x * (1 + tanhf(0.797884561F * (x + 0.044715F * x * x * x)));
}

template <class T>
__global__ void gelu_naive(const T* x, T* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = from_float<T>(gelu(to_float(x[i])));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    gelu_naive<<<blocks, kThreads, 0, stream>>>(x, y, n);
  };
}

const Registration naive{{.operation = "gelu",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_elements<kThreads>},
                         ElementTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::gelu_naive
