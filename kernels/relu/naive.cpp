// ReLU, one element at a time. The kernel reads and writes each element once and compares once: the
// limit is memory bandwidth in every format.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  return [n = shape["n"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < n; ++i) y[i] = decode(x[i]) < 0 ? encode<T>(0) : x[i];
  };
}

const Registration naive{{.operation = "relu",
                          .name = "naive",
                          .engine = Engine::memory,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         ElementTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
