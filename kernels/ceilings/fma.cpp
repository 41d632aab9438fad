// Multiply-adds between registers: enough chains at once to hide the latency of one, and memory
// accesses only at a chain's two ends. The limit is the rate at which the units accept work.
#include "kernels/ceilings/fma.hpp"

#include <algorithm>
#include <array>

#include "kernels/common/cpu/target_begin.hpp"

namespace ridgebench {
namespace {

// More than 2 units x 5 cycles of latency: 12 vectors fit the 16 registers of AVX2, and 16 the 32
// of AVX-512. SSE has no multiply-add and needs a register for the product.
constexpr std::int64_t kChains = (RIDGEBENCH_ISA_LEVEL >= 4 ? 16 : 12) * cpu::kLanes;

// Runs kChains chains in step and stores the first `count`.
void run(const float* x, float* y, std::int64_t count, std::int64_t iterations) {
  std::array<float, kChains> chains{};
  for (std::int64_t k = 0; k < count; ++k) chains[k] = x[k];
  const FmaStep step(iterations);
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (float& chain : chains) chain = step.factor * chain + step.addend;
  }
  for (std::int64_t k = 0; k < count; ++k) y[k] = chains[k];
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  return [n = shape["n"], iterations = shape["iterations"], threads = queue.threads(), x, y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t first = 0; first < n; first += kChains) {
      run(x + first, y + first, std::min(kChains, n - first), iterations);
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration registers{
    {.operation = "fma_peak", .name = "registers", .engine = Engine::fma, .isa = cpu::kIsa},
    Types<float>{},
    []<class>() { return bind; }};

}  // namespace
}  // namespace ridgebench
