// Multiply-adds on blocks of as many elements as fill the vector registers, which hides the latency
// of one; large results go past the caches. The limit is main memory up to the ridge, and beyond it
// the rate of the multiply-add units.
#include "kernels/ceilings/sweep/intensity.hpp"

#include "kernels/common/cpu/streaming.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/map.hpp"

namespace ridgebench {
namespace {

// As fma.cpp, in whole lines.
#if defined(__aarch64__)
constexpr int kIntensityVectors = 24;
#else
constexpr int kIntensityVectors = RIDGEBENCH_ISA_LEVEL >= 4 ? 16 : 12;
#endif
constexpr std::int64_t kBlock = std::int64_t{kIntensityVectors} * cpu::kLanes;

Launch bind(Queue& queue, const Shape& shape, const float* x, float* y) {
  const std::int64_t n = shape["n"];
  return [=, iterations = shape["iterations"], threads = queue.threads(),
          streaming = cpu::streaming_pays<float>(n)] {
    const float share = FmaStep(iterations).share;
    const auto block = [=](const float* in, float* out) {
      std::array<float, kBlock> distance;
      for (std::int64_t k = 0; k < kBlock; ++k) distance[k] = in[k] - FmaStep::kFixed;
      for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 32
        for (float& d : distance) d -= share * d;
      }
      for (std::int64_t k = 0; k < kBlock; ++k) out[k] = FmaStep::kFixed + distance[k];
    };
    cpu::map<kBlock>(y, n, threads, streaming, block, x);
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration streaming{
    {.operation = "intensity", .name = "streaming", .engine = Engine::fma, .isa = cpu::kIsa},
    Types<float>{},
    []<class>() { return bind; }};

}  // namespace
}  // namespace ridgebench
