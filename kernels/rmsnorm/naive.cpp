// RMSNorm in two passes over each row: the sum of squares, one addition after the other, then the
// products. The limit is the latency of an addition, not yet memory.
#include <cmath>

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
void rmsnorm_row(const T* x, const T* w, T* y, std::int64_t n, float eps) {
  float sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += decode(x[j]) * decode(x[j]);
  const float scale = 1 / std::sqrt(sum / static_cast<float>(n) + eps);
  for (std::int64_t j = 0; j < n; ++j) y[j] = encode<T>(decode(x[j]) * scale * decode(w[j]));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* w, T* y) {
  const auto eps = static_cast<float>(shape.attribute("eps"));
  return [m = shape["m"], n = shape["n"], threads = queue.threads(), eps, x, w, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < m; ++i) rmsnorm_row(x + i * n, w, y + i * n, n, eps);
  };
}

const Registration naive{{.operation = "rmsnorm",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
