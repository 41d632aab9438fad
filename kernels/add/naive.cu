// Addition, one thread per element. Neighbouring threads take neighbouring elements. The limit is
// memory bandwidth, nearly, in fp32; in narrower formats a thread keeps too few bytes in flight.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::add_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void add_naive(const T* x, const T* y, T* z, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) z[i] = from_float<T>(to_float(x[i]) + to_float(y[i]));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* y, T* z) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    add_naive<<<blocks, kThreads, 0, stream>>>(x, y, z, n);
  };
}

const Registration naive{{.operation = "add",
                          .name = "naive",
                          .engine = Engine::memory,
                          .arithmetic = Format::fp32,
                          .supports = supports_elements<kThreads>},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::add_naive
