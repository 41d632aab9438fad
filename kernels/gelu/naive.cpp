// GeLU as the lecture writes it, with the C library's tanh: about a hundred instructions for one
// element at a time. The limit is arithmetic, far below memory bandwidth.
#include <cmath>

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

// 0.797884561 = sqrt(2/pi)
float gelu(float x) {
  return 0.5F * x * (1 + std::tanh(0.797884561F * (x + 0.044715F * x * x * x)));
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [n = shape["n"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < n; ++i) y[i] = encode<T>(gelu(decode(x[i])));
  };
}

const Registration naive{{.operation = "gelu",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         ElementTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
