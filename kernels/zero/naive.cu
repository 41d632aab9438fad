// Zeros, one thread per element. Neighbouring threads write neighbouring elements. The limit is
// memory bandwidth in fp32; in narrower formats a thread stores fewer bytes at once.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::zero_naive {

constexpr int kThreads = 256;

template <class T>
__global__ void zero_naive(T* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) y[i] = T{};
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, T* y) {
  const std::int64_t n = shape["n"];
  return [=, blocks = blocks_for(n, kThreads), stream = stream_of(queue)] {
    zero_naive<<<blocks, kThreads, 0, stream>>>(y, n);
  };
}

const Registration naive{{.operation = "zero",
                          .name = "naive",
                          .engine = Engine::memory,
                          .supports = supports_elements<kThreads>},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::zero_naive
