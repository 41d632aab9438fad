// Softmax in three passes over each row: its maximum, the sum of its exponentials, and the
// quotients, for which each exponential is computed again. The limit is arithmetic: two calls of
// the C library's exponential for each element.
#include <cmath>

#include "kernels/common/cpu/plain_rows.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
void softmax_row(const T* x, T* y, std::int64_t n) {
  const float max = cpu::plain_max(x, n);
  const float sum = cpu::plain_exp_sum(x, n, max);
  for (std::int64_t j = 0; j < n; ++j) y[j] = encode<T>(std::exp(decode(x[j]) - max) / sum);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [m = shape["m"], n = shape["n"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < m; ++i) softmax_row(x + i * n, y + i * n, n);
  };
}

const Registration naive{{.operation = "softmax",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
