// Matrix-vector product row by row, each the dot product of kernels/common/cpu/dot.hpp. A thread
// walks two or four parts of its rows in as many streams: memory is read faster so than in one, and
// they share what it takes to read x. That stays in a cache, and is widened once. The limit is
// memory bandwidth, that of reading.
#include <type_traits>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/sum.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"

namespace ridgepoint {
namespace {

// Rows read at once, as many as registers hold the sums of.
constexpr int kStreams = RIDGEPOINT_ISA_LEVEL == 4 ? 4 : 2;

// Rows of A, `stride` apart from the first on, times x: elements of y as far apart.
template <int kRows, class T, class Out>
void multiply_rows(const T* a, std::int64_t stride, const float* x, Out* y, std::int64_t n) {
  const std::array<float, kRows> sums = cpu::dots<kRows, true>(a, stride * n, x, n);
  for (int r = 0; r < kRows; ++r) y[r * stride] = cpu::narrow<Out>(sums[r]);
}

// y[begin, end). x is arranged for A's format.
template <class T, class Out>
void multiply(const T* a, const float* x, Out* y, std::int64_t begin, std::int64_t end,
              std::int64_t n) {
  const std::int64_t stream = (end - begin) / kStreams;
  for (std::int64_t i = begin; i < begin + stream; ++i) {
    multiply_rows<kStreams>(a + i * n, stream, x, y + i, n);
  }
  for (std::int64_t i = begin + kStreams * stream; i < end; ++i) {
    multiply_rows<1>(a + i * n, 1, x, y + i, n);
  }
}

template <class T, class Out>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* x, Out* y) {
  const std::int64_t n = shape["n"];
  std::shared_ptr<void> workspace;
  if constexpr (!std::is_same_v<T, float>) {
    workspace = queue.allocate(static_cast<std::size_t>(n) * sizeof(float));
  }
  return [=, m = shape["m"], threads = queue.threads()] {
#pragma omp parallel num_threads(threads)
    {
      const float* wide = cpu::arranged(x, n, static_cast<float*>(workspace.get()));
#pragma omp for schedule(static)
      for (int t = 0; t < threads; ++t) {
        multiply(a, wide, y, m * t / threads, m * (t + 1) / threads, n);
      }
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
