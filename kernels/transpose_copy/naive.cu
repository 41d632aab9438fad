// Transposed copy, one thread per element. Neighbouring threads read neighbouring elements and
// write elements a row of y apart, so that each store is a request of its own. The limit is the
// number of those requests.
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"
#include "kernels/common/training_formats.hpp"

namespace ridgebench::cuda::transpose_copy_naive {

constexpr int kColumns = 32;
constexpr int kRows = 8;

template <class T>
__global__ void transpose_copy_naive(const T* x, T* y, std::int64_t m, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.y} * kRows + threadIdx.y;
  const std::int64_t j = std::int64_t{blockIdx.x} * kColumns + threadIdx.x;
  if (i < m && j < n) y[j * m + i] = x[i * n + j];
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return [=, tiles = tiles_for(m, n, kRows, kColumns), stream = stream_of(queue)] {
    transpose_copy_naive<<<tiles, dim3(kColumns, kRows), 0, stream>>>(x, y, m, n);
  };
}

const Registration naive{{.operation = "transpose_copy",
                          .name = "naive",
                          .engine = Engine::memory,
                          .supports = supports_tiles<kRows, kColumns>},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace ridgebench::cuda::transpose_copy_naive
