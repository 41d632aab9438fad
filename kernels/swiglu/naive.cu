// SwiGLU, one thread per element, by the accurate exponential and division. The limit is memory
// bandwidth, nearly, in fp32; in narrower formats a thread keeps too few bytes in flight.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::swiglu_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void swiglu_naive(const T* gate, const T* up, T* h, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) {
    const float x = to_float(gate[i]);
    h[i] = from_float<T>(x / (1 + expf(-x)) * to_float(up[i]));
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* gate, const T* up, T* h) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    swiglu_naive<<<blocks, kThreads, 0, stream>>>(gate, up, h, n);
  };
}

const Registration naive{{.operation = "swiglu",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .supports = supports_elements<kThreads>},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::swiglu_naive
