// Matrix product as three nested loops over the definition. Every product reads its two operands
// anew, and the running sum waits for each addition: far below any roof, whatever the size.
#include "kernels/common/registry.hpp"

namespace ridgepoint {
namespace {

template <class A, class B, class Out>
Launch bind(Queue& queue, const Shape& shape, const A* a, const B* b, Out* c) {
  const Layout layout = shape.layout();
  return
      [m = shape["m"], n = shape["n"], k = shape["k"], layout, threads = queue.threads(), a, b, c] {
#pragma omp parallel for num_threads(threads)
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::int64_t p = 0; p < k; ++p) {
              sum += decode(a[layout == Layout::tn ? p * m + i : i * k + p]) *
                     decode(b[layout == Layout::nt ? j * k + p : p * n + j]);
            }
            c[i * n + j] = encode<Out>(sum);
          }
        }
      };
}

const Registration naive{{.operation = "matmul",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         bind<float, float, float>,
                         bind<Tf32, Tf32, Tf32>,
                         bind<Fp16, Fp16, Fp16>,
                         bind<Bf16, Bf16, Bf16>,
                         bind<Fp8E4m3, Fp8E4m3, Bf16>,
                         bind<Fp8E5m2, Fp8E5m2, Bf16>,
                         bind<Fp8E4m3, Fp8E5m2, Bf16>,
                         bind<Fp8E5m2, Fp8E4m3, Bf16>};

}  // namespace
}  // namespace ridgepoint
