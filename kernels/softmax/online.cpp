// Softmax in two passes over each row: one for the maximum and the sum of exponentials together,
// and one that writes the quotients (kernels/common/cpu/rows.hpp). The exponential is a polynomial
// for whole vectors. A row that stays in a cache comes from memory once. The limit of few threads
// is arithmetic: each of the two exponentials takes 22 instructions for a vector. The limit of many
// threads is memory bandwidth, that of a copy.
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

template <class T>
void softmax_row(const T* x, T* y, std::int64_t n, bool streaming) {
  const cpu::MaxAndSum row = cpu::max_and_sum(x, n);
  const float scale = 1 / row.sum;
  cpu::map_strips(x, y, n, streaming,
                  [&](const float* strip, float* out, std::int64_t /*first*/, std::int64_t count) {
                    cpu::exponentials(strip, out, count, row.max);
#pragma omp simd
                    for (std::int64_t j = 0; j < count; ++j) out[j] *= scale;
                  });
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, T* y) {
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(m * n)] {
    cpu::for_each_row(m, threads,
                      [&](std::int64_t i) { softmax_row(x + i * n, y + i * n, n, streaming); });
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration online{{.operation = "softmax",
                           .name = "online",
                           .engine = Engine::fma,
                           .arithmetic = Format::fp32,
                           .isa = cpu::kIsa,
                           .approximation_error = cpu::kExp2Error},
                          TrainingTypes{},
                          []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
