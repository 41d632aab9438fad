// Multiply-adds between registers: enough chains at once to hide the latency of one, and memory
// accesses only at a chain's two ends. The limit is the rate at which the units accept work.
#include "kernels/ceilings/fma.hpp"

#include <algorithm>
#include <array>

#include "kernels/common/cpu/target_begin.hpp"

namespace ridgebench {
namespace {

// Units times cycles of latency, at least: 2 x 5 on x86-64, where 12 vectors fit the 16 registers
// of AVX2 and 16 the 32 of AVX-512, and 4 x 4 on ARM (Neoverse V1 and V2), whose NEON has 32.
#if defined(__aarch64__)
constexpr int kVectors = 24;
#else
constexpr int kVectors = RIDGEBENCH_ISA_LEVEL >= 4 ? 16 : 12;
#endif
constexpr std::int64_t kChains = std::int64_t{kVectors} * cpu::kLanes;

// Runs kChains chains in step and stores the first `count`.
void run(const float* x, float* y, std::int64_t count, const FmaStep& step,
         std::int64_t iterations) {
  std::array<float, kChains> distance{};
  for (std::int64_t k = 0; k < count; ++k) distance[k] = x[k] - FmaStep::kFixed;
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 32
    for (float& d : distance) d -= step.share * d;
  }
  for (std::int64_t k = 0; k < count; ++k) y[k] = FmaStep::kFixed + distance[k];
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  return [n = shape["n"], iterations = shape["iterations"], threads = queue.threads(), x, y] {
    const FmaStep step(iterations);
#pragma omp parallel for num_threads(threads)
    for (std::int64_t first = 0; first < n; first += kChains) {
      run(x + first, y + first, std::min(kChains, n - first), step, iterations);
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration registers{{.operation = "fma_peak",
                              .name = "registers",
                              .engine = Engine::fma,
                              .isa = cpu::kIsa,
                              .full_rate = cpu::fills_registers},
                             Types<float>{},
                             []<class>() { return bind; }};

}  // namespace
}  // namespace ridgebench
