// Matrix-vector product row by row, each the dot product of kernels/common/cpu/dot.hpp. Two rows at
// a time: memory is read faster in two streams to a core than in one, and they share what it takes
// to read and widen x. x is read again for every two rows and stays in a cache; where widening it
// takes many instructions, that is done once. The limit is memory bandwidth, that of reading.
#include <type_traits>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/sum.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"

namespace ridgepoint {
namespace {

// Whether x is widened once. fp16 is where the processor has no conversion of it.
template <class T>
constexpr bool kWidened =
    sizeof(T) == 1 || (FormatOf<T>::value == Format::fp16 && cpu::kFp16Lanes == 0);

// y[0, kRows) from as many rows of A.
template <int kRows, class T, class X, class Out>
void multiply_rows(const T* a, const X* x, Out* y, std::int64_t n) {
  const std::array<float, kRows> sums = cpu::dots<kRows, true>(a, n, x, n);
  for (int r = 0; r < kRows; ++r) y[r] = cpu::narrow<Out>(sums[r]);
}

template <class T, class X, class Out>
void multiply(const T* a, const X* x, Out* y, std::int64_t m, std::int64_t n) {
  constexpr int kRows = sizeof(T) == 1 ? 1 : 2;  // of fp8, whose widening takes longer, one
#pragma omp for schedule(static)
  for (std::int64_t i = 0; i < m; i += kRows) {
    if (i + kRows <= m) {
      multiply_rows<kRows>(a + i * n, x, y + i, n);
    } else {
      multiply_rows<1>(a + i * n, x, y + i, n);
    }
  }
}

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  const std::int64_t n = shape["n"];
  std::shared_ptr<void> workspace;
  if constexpr (kWidened<T>)
    workspace = queue.allocate(static_cast<std::size_t>(n) * sizeof(float));
  return [=, m = shape["m"], threads = queue.threads()] {
#pragma omp parallel num_threads(threads)
    if constexpr (kWidened<T>) {
      auto* wide = static_cast<float*>(workspace.get());
#pragma omp for schedule(static)
      for (std::int64_t j = 0; j < n; ++j) wide[j] = cpu::widen(x[j]);
      multiply(a, wide, y, m, n);
    } else {
      multiply(a, x, y, m, n);
    }
  };
}

}  // namespace
}  // namespace ridgepoint

#include "kernels/common/cpu/target_end.hpp"

namespace ridgepoint {
namespace {

const Registration row_by_row{{.operation = "matvec",
                               .name = "row_by_row",
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
