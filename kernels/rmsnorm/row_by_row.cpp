// RMSNorm row by row in whole vectors: several running sums of squares at once
// (kernels/common/cpu/dot.hpp), then the products (kernels/common/cpu/rows.hpp). A row stays in a
// cache between the passes, and so does w. The limit is memory bandwidth, that of a copy.
#include <array>
#include <cmath>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"
#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

template <class T>
void rmsnorm_row(const T* x, const T* w, T* y, std::int64_t n, float eps, bool streaming) {
  const float scale = 1 / std::sqrt(cpu::dot(x, x, n) / static_cast<float>(n) + eps);
  alignas(64) std::array<float, cpu::kStrip> buffer;
  cpu::map_strips(x, y, n, streaming,
                  [&](const float* strip, float* out, std::int64_t first, std::int64_t count) {
                    const float* weight = cpu::widened_row(w + first, buffer.data(), count);
#pragma omp simd
                    for (std::int64_t j = 0; j < count; ++j) out[j] = strip[j] * scale * weight[j];
                  });
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* w, T* y) {
  const auto eps = static_cast<float>(shape.attribute("eps"));
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(m * n)] {
    cpu::for_each_row(m, threads, [&](std::int64_t i) {
      rmsnorm_row(x + i * n, w, y + i * n, n, eps, streaming);
    });
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration row_by_row{{.operation = "rmsnorm",
                               .name = "row_by_row",
                               .engine = Engine::fma,
                               .arithmetic = Format::fp32,
                               .isa = cpu::kIsa},
                              TrainingTypes{},
                              []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
