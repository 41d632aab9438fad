// The cost of a parallel region: regions one after another, each of which wakes the threads, copies
// one word and waits for the threads.
#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  return [n = shape["n"], threads = queue.threads(), x, y] {
    for (std::int64_t region = 0; region < n; ++region) {
#pragma omp parallel for num_threads(threads)
      for (std::int64_t i = region; i < region + 1; ++i) y[i] = x[i];
    }
  };
}

const Registration parallel_region{
    {.operation = "launch", .name = "parallel_region", .engine = Engine::memory},
    Types<float>{},
    []<class>() { return bind; }};

}  // namespace
}  // namespace ridgebench
