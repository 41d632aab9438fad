// Dot product as a single running sum per thread. Each addition waits for the one before it: the
// limit is the latency of an addition, not yet memory.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* y, float* s) {
  return [n = shape["n"], threads = queue.threads(), x, y, s] {
    float sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += decode(x[i]) * decode(y[i]);
    *s = sum;
  };
}

const Registration naive{{.operation = "dot",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive,
                          .order_dependent = true},
                         ElementTypes{},
                         []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
