// Ceiling of the multiply-add units: n independent chains of x <- a x + b in fp32, `iterations`
// long. The chain is a slow contraction, so that every iteration shows in the result: after i of
// them, x_i = f + a^i (x_0 - f) with the fixed point f = b / (1 - a).
#pragma once

#include <cmath>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

inline constexpr std::int64_t kFmaIterations = 4096;
inline constexpr float kFmaFactor = 1.0F - 1.0F / kFmaIterations;  // exact, as is the next
inline constexpr float kFmaAddend = 16.0F / kFmaIterations;        // a fixed point of 16
inline constexpr std::int64_t kFmaChains = 8;                      // of a GPU's thread

namespace fma_detail {

inline constexpr std::int64_t kRowLength = 256;

// CUDA C++ Programming Guide, throughput of native arithmetic instructions: 32-bit multiply-adds.
inline double most_per_clock(const Machine& machine, FormatPair) {
  switch (machine.compute_capability) {
    case 80:
      return 2 * 64;
    case 86:
    case 89:
    case 90:
    case 100:
    case 103:
    case 120:
      return 2 * 128;
    default:
      return 0;
  }
}

inline Operation fma_peak() {
  Operation op;
  op.name = "fma_peak";
  op.dimensions = {"n", "iterations"};
  op.formats = {Format::fp32};
  op.flops = [](const Shape& s) {
    return 2.0 * static_cast<double>(s["n"]) * static_cast<double>(s["iterations"]);
  };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    const double fixed = static_cast<double>(kFmaAddend) / (1.0 - kFmaFactor);
    const double shrink = std::pow(kFmaFactor, static_cast<double>(s["iterations"]));
    std::int64_t i = row * kRowLength;
    for (Expected& y : out) {
      const double x = in[0][i];
      y = {fixed + shrink * (x - fixed), std::hypot(x, fixed)};
      ++i;
    }
  };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["iterations"]); };
  // Milliseconds a unit, at 32 multiply-adds per cycle on a host and 64 or 128 on a GPU.
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    const std::int64_t chains =
        machine.compute_capability > 0 ? 2 * kFmaChains * kWholeWaveThreads : 24576;
    return {Shape({{"n", chains * machine.units}, {"iterations", kFmaIterations}})};
  };
  op.ceiling = Ceiling{.resource = Resource::fma, .most_per_clock = most_per_clock};
  return op;
}

}  // namespace fma_detail

inline const RegisterOperation fma_peak{fma_detail::fma_peak()};

}  // namespace ridgebench
