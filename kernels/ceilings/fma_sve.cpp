// The multiply-adds of fma.cpp between SVE registers, whose width the processor decides: NEON
// reaches a part of the rate where they are wider than its own.
#include <arm_sve.h>

#include <algorithm>

#include "kernels/ceilings/fma.hpp"
#include "kernels/common/cpu/target_begin_sve.hpp"

namespace ridgebench {
namespace {

// At least 4 units x 4 cycles of latency (Neoverse V2) and 2 x 9 (A64FX); the registers are 32.
constexpr int kVectors = 24;

// Runs kVectors vectors of chains in step and stores the first `count` chains. No array holds
// vectors whose size is unknown: they are parameters, one more in each call.
template <int kMissing, class... Vector>
[[gnu::always_inline]] inline void run(const float* x, float* y, std::int64_t count, FmaStep step,
                                       std::int64_t iterations, Vector... distance) {
  const auto lanes = static_cast<std::int64_t>(svcntw());
  if constexpr (kMissing > 0) {
    const std::int64_t first = lanes * std::int64_t{sizeof...(distance)};
    const svbool_t some = svwhilelt_b32(first, count);
    run<kMissing - 1>(x, y, count, step, iterations, distance...,
                      svsub_x(some, svld1(some, x + first), FmaStep::kFixed));
  } else {
    const svbool_t all = svptrue_b32();
    for (std::int64_t i = 0; i < iterations; ++i) {
      ((distance = svmls_x(all, distance, distance, step.share)), ...);
    }
    std::int64_t first = 0;
    const auto store = [&](svfloat32_t d) {
      svst1(svwhilelt_b32(first, count), y + first, svadd_x(all, d, FmaStep::kFixed));
      first += lanes;
    };
    (store(distance), ...);
  }
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  return [n = shape["n"], iterations = shape["iterations"], threads = queue.threads(), x, y] {
    const FmaStep step(iterations);
    const std::int64_t chains = kVectors * static_cast<std::int64_t>(svcntw());
#pragma omp parallel for num_threads(threads)
    for (std::int64_t first = 0; first < n; first += chains) {
      run<kVectors>(x + first, y + first, std::min(chains, n - first), step, iterations);
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
