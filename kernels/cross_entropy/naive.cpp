// Cross-entropy and its gradient in three passes over each row: its maximum, the sum of its
// exponentials, and the gradient, for which each exponential is computed again. The limit is
// arithmetic: two calls of the C library's exponential for each element.
#include <cmath>

#include "kernels/common/cpu/plain_rows.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// Returns the loss of a row of n logits.
template <class T>
float cross_entropy_row(const T* x, std::int64_t label, T* dx, std::int64_t n, float of_row) {
  const float max = cpu::plain_max(x, n);
  const float sum = cpu::plain_exp_sum(x, n, max);
  for (std::int64_t j = 0; j < n; ++j) {
    const float p = std::exp(decode(x[j]) - max) / sum;
    dx[j] = encode<T>((j == label ? p - 1 : p) * of_row);
  }
  return std::log(sum) - (decode(x[label]) - max);
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* logits, const std::int32_t* labels,
            float* loss, T* dlogits) {
  return [=, m = shape["m"], n = shape["n"], threads = queue.threads()] {
    const float of_row = 1 / static_cast<float>(m);
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < m; ++i) {
      loss[i] = cross_entropy_row(logits + i * n, labels[i], dlogits + i * n, n, of_row);
    }
  };
}

const Registration naive{{.operation = "cross_entropy",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
