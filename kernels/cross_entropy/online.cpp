// Cross-entropy and its gradient in two passes over each row: one for the maximum and the sum of
// exponentials together, and one that writes the gradient (kernels/common/cpu/rows.hpp). The
// exponential is a polynomial for whole vectors. A row that stays in a cache comes from memory
// once. The limit of few threads is arithmetic, as for softmax/online, and that of many threads is
// memory bandwidth, that of a copy.
#include <cmath>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/rows.hpp"

namespace ridgebench {
namespace {

// Returns the loss of a row of n logits.
template <class T>
float cross_entropy_row(const T* x, std::int64_t label, T* dx, std::int64_t n, float of_row,
                        bool streaming) {
  const cpu::MaxAndSum row = cpu::max_and_sum(x, n);
  const float scale = of_row / row.sum;
  const float logit = cpu::widen(x[label]) - row.max;
  cpu::map_strips(x, dx, n, streaming,
                  [&](const float* strip, float* out, std::int64_t first, std::int64_t count) {
                    cpu::exponentials(strip, out, count, row.max);
#pragma omp simd
                    for (std::int64_t j = 0; j < count; ++j) out[j] *= scale;
                    if (label >= first && label < first + count) out[label - first] -= of_row;
                  });
  return std::log(row.sum) - logit;
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* logits, const std::int32_t* labels,
            float* loss, T* dlogits) {
  const std::int64_t m = shape["m"];
  const std::int64_t n = shape["n"];
  return [=, threads = queue.threads(), streaming = cpu::streaming_pays<T>(m * n)] {
    const float of_row = 1 / static_cast<float>(m);
    cpu::for_each_row(m, threads, [&](std::int64_t i) {
      loss[i] = cross_entropy_row(logits + i * n, labels[i], dlogits + i * n, n, of_row, streaming);
    });
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration online{{.operation = "cross_entropy",
                           .name = "online",
                           .engine = Engine::fma,
                           .arithmetic = Format::fp32,
                           .isa = cpu::kIsa,
                           .approximation_error = cpu::kExp2Error},
                          TrainingTypes{},
                          []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
