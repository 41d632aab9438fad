// Dot product with many running sums at once (kernels/common/cpu/dot.hpp). The sums do not depend
// on each other, so the additions overlap and fill the vector registers. The kernel widens narrow
// formats as it reads them. The limit is the memory bandwidth of reading.
#include <numeric>
#include <vector>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/dot.hpp"

namespace ridgebench {
namespace {

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* y, float* s) {
  // One sum per thread, added in order, so that every run gives the same bits.
  std::vector<float> sums(static_cast<std::size_t>(queue.threads()));
  return [n = shape["n"], threads = queue.threads(), sums, x, y, s]() mutable {
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      const std::int64_t first = n * t / threads;
      const std::int64_t last = n * (t + 1) / threads;
      sums[static_cast<std::size_t>(t)] = cpu::dot(x + first, y + first, last - first);
    }
    *s = std::accumulate(sums.begin(), sums.end(), 0.0F);
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration accumulators{{.operation = "dot",
                                 .name = "accumulators",
                                 .engine = Engine::fma,
                                 .arithmetic = Format::fp32,
                                 .isa = cpu::kIsa},
                                ElementTypes{},
                                []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
