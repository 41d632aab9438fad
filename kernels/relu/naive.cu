// ReLU, one thread per element. Neighbouring threads take neighbouring elements, so that a warp's
// 32 loads become one request for whole cache lines, and the many warps hide each other's latency.
// The limit is memory bandwidth, nearly, in fp32. In narrower formats the same number of loads
// carries fewer bytes, too few to cover the memory's latency.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/registry.hpp"

namespace ridgebench::cuda::relu_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void relu_naive(const T* x, T* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = to_float(x[i]) < 0 ? T{} : x[i];
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    relu_naive<<<blocks, kThreads, 0, stream>>>(x, y, n);
  };
}

const Registration naive{{.operation = "relu",
                          .name = "naive",
                          .engine = Engine::memory,
                          .arithmetic = Format::fp32,
                          .supports = supports_elements<kThreads>},
                         ElementTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::relu_naive
