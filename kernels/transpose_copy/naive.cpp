// Transposed copy, one row of y after the other. Neighbours of a row of y lie a row of x apart, so
// that a whole line is read for each element. The limit is the latency of those reads.
#include "kernels/common/training_formats.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [m = shape["m"], n = shape["n"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) y[j * m + i] = x[i * n + j];
    }
  };
}

const Registration naive{
    {.operation = "transpose_copy", .name = "naive", .engine = Engine::memory, .pace = Pace::naive},
    TrainingTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
