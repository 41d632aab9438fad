// RMSNorm row by row in whole vectors (kernels/common/cpu/rows.hpp): several running sums of
// squares at once, then the products. A row stays in a cache between the passes, and so does w. The
// limit is memory bandwidth, that of a copy.
#include <array>
#include <cmath>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

template <class T>
void rmsnorm_row(const T* x, const T* w, T* y, std::int64_t n, float eps, bool streaming) {
  float sum = 0;
  cpu::for_each_strip(x, n, [&](const float* strip, std::int64_t /*first*/, std::int64_t count) {
    sum += cpu::sum_of_products(strip, strip, count);
  });
  const float scale = 1 / std::sqrt(sum / static_cast<float>(n) + eps);
  std::array<float, cpu::kStrip> weights;
  cpu::map_strips(x, y, n, streaming, [&](float* strip, std::int64_t first, std::int64_t count) {
    cpu::widen_row(w + first, weights.data(), count);
    const float* weight = weights.data();
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) strip[j] = strip[j] * scale * weight[j];
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
