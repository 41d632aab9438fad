// Matrix-vector product with x widened to fp32 once, before the rows need it: what is left per
// element of A is its own conversion and a multiply-add, in running sums enough to hide the latency
// (kernels/common/cpu/dot.hpp). Two or four rows go together and share what they read of x: it is
// larger than a row in a narrow format, and need not stay in the first cache beside it. Every
// element of A is read once: the limit is memory bandwidth, that of reading.
#include <algorithm>
#include <array>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/registers.hpp"
#include "kernels/common/cpu/sum.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"

namespace ridgepoint {
namespace {

// Rows whose running sums fit the registers beside what a conversion needs.
template <class T>
constexpr std::int64_t kRows =
    cpu::kVectorFloats == 16 && FormatOf<T>::value != Format::fp8_e4m3 ? 4 : 2;

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  const std::int64_t n = shape["n"];
  const std::shared_ptr<void> workspace =
      queue.allocate(static_cast<std::size_t>(n) * sizeof(float));
  return [=, m = shape["m"], threads = queue.threads()] {
    auto* wide = static_cast<float*>(workspace.get());
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
      for (std::int64_t j = 0; j < n; ++j) wide[j] = cpu::widen(x[j]);
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < m; i += kRows<T>) {
        std::array<float, kRows<T>> sums;
        const std::int64_t rows = std::min(kRows<T>, m - i);
        if (rows == kRows<T>) {
          cpu::dots<kRows<T>>(a + i * n, n, wide, n, sums.data());
        } else {
          for (std::int64_t r = 0; r < rows; ++r) sums[r] = cpu::dot(a + (i + r) * n, wide, n);
        }
        for (std::int64_t r = 0; r < rows; ++r) {
          y[i + r] = cpu::narrow<Out>(sums[static_cast<std::size_t>(r)]);
        }
      }
    }
  };
}

}  // namespace
}  // namespace ridgepoint

#include "kernels/common/cpu/target_end.hpp"

namespace ridgepoint {
namespace {

const Registration widened_vector{{.operation = "matvec",
                                   .name = "widened_vector",
                                   .engine = Engine::fma,
                                   .arithmetic = Format::fp32,
                                   .isa = cpu::kIsa},
                                  bind<float, float>,
                                  bind<Fp16, Fp16>,
                                  bind<Bf16, Bf16>,
                                  bind<Fp8E4m3, Bf16>,
                                  bind<Fp8E5m2, Bf16>};

}  // namespace
}  // namespace ridgepoint
