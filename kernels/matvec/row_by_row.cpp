// Matrix-vector product row by row, each the dot product of kernels/common/cpu/dot.hpp. A thread
// reads the two halves of its rows as two streams, which is faster than one. The rows share x,
// which stays in a cache and is widened once. The limit is the memory bandwidth of reading.
#include <type_traits>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"

namespace ridgebench {
namespace {

// Computes y[begin, end). x is arranged for A's format.
template <class T, class Out>
void multiply(const T* a, const float* x, Out* y, std::int64_t begin, std::int64_t end,
              std::int64_t n) {
  const std::int64_t half = (end - begin) / 2;
  for (std::int64_t i = begin; i < begin + half; ++i) {
    const auto [first, second] = cpu::dot_arranged(a + i * n, a + (i + half) * n, x, n);
    y[i] = cpu::narrow<Out>(first);
    y[i + half] = cpu::narrow<Out>(second);
  }
  for (std::int64_t i = begin + 2 * half; i < end; ++i) {
    y[i] = cpu::narrow<Out>(cpu::dot_arranged(a + i * n, x, n));
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
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

// Narrow formats are widened once.
template <class T>
Technique technique() {
  return {.operation = "matvec",
          .name = "row_by_row",
          .engine = Engine::fma,
          .arithmetic = Format::fp32,
          .isa = cpu::kIsa,
          .workspace_bytes = [](const Machine& /*machine*/, const Shape& s) {
            constexpr std::size_t size = std::is_same_v<T, float> ? 0 : sizeof(float);
            return static_cast<double>(s["n"]) * size;
          }};
}

const Registration row_by_row{[]<class T>() { return technique<T>(); }, ElementTypes{},
                              []<class T>() { return bind<T, typename ProductTypes<T>::Out>; }};

}  // namespace
}  // namespace ridgebench
