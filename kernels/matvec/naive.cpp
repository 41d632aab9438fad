// Matrix-vector product, one row per iteration. The kernel uses every element of A once, so memory
// bandwidth is the roof; but a single running sum per row waits for each addition.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  return [m = shape["m"], n = shape["n"], threads = queue.threads(), a, x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += decode(a[i * n + j]) * decode(x[j]);
      y[i] = encode<Out>(sum);
    }
  };
}

const Registration naive{{.operation = "matvec",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         ElementTypes{},
                         []<class T>() { return bind<T, typename ProductTypes<T>::Out>; }};

}  // namespace
}  // namespace ridgebench
