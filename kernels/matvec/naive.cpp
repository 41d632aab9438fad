// Matrix-vector product, one row per iteration. Every element of A is used once: the limit is
// memory bandwidth, but a single running sum per row waits for each addition.
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
                         bind<float, float>,
                         bind<Fp16, Fp16>,
                         bind<Bf16, Bf16>,
                         bind<Fp8E4m3, Bf16>,
                         bind<Fp8E5m2, Bf16>};

}  // namespace
}  // namespace ridgebench
