// Ceilings of the multiply-add units: n independent chains of x <- a x + b, `iterations` long, in
// fp32 (fma_peak) and in fp64 (fma_double_peak, on GPUs only). The chain is a slow contraction, so
// that missing iterations show in the result: after i of them, x_i = f + a^i (x_0 - f) with the
// fixed point f = b / (1 - a).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

inline constexpr std::int64_t kFmaIterations = 4096;  // of a host
// Chains of a GPU's thread. In fp64 each takes two registers and a step takes twice as long or
// more.
inline constexpr std::int64_t kFmaChains = 8;
inline constexpr std::int64_t kFmaDoubleChains = 4;

// x <- factor x + addend, or d <- d - share d for the distance d of x from its fixed point, which
// overwrites an operand, as the multiply-adds of ARM do. The numbers are exact in fp32.
struct FmaStep {
  static constexpr float kFixed = 16;
  float share, factor, addend;

  // The contraction is slow enough that a chain of this length does not arrive.
  explicit constexpr FmaStep(std::int64_t iterations)
      : share(1.0F / static_cast<float>(length_of(iterations))),
        factor(1.0F - share),
        addend(kFixed * share) {}

  static constexpr std::uint64_t kLongest = 1U << 20U;  // a longer one would lose its bits in fp32

  // Rounded down to a power of two, so that the numbers are exact.
  static constexpr std::uint64_t length_of(std::int64_t iterations) {
    const auto length = static_cast<std::uint64_t>(std::max(iterations, kFmaIterations));
    return std::min(std::bit_floor(length), kLongest);
  }
};

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
    const FmaStep step(s["iterations"]);
    constexpr double fixed = FmaStep::kFixed;
    const double shrink = std::pow(step.factor, static_cast<double>(s["iterations"]));
    std::int64_t i = row * kRowLength;
    for (Expected& y : out) {
      const double x = in[0][i];
      y = {fixed + shrink * (x - fixed), std::sqrt(x * x + fixed * fixed)};
      ++i;
    }
  };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["iterations"]); };
  // Milliseconds a unit, at 32 multiply-adds per cycle on a host and 64 or 128 on a GPU, whose
  // chains are one wave.
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    const bool gpu = machine.compute_capability > 0;
    const std::int64_t chains = gpu ? kFmaChains * threads_of_wave(machine) : 24576;
    return {Shape(
        {{"n", chains * machine.units}, {"iterations", gpu ? kWaveIterations : kFmaIterations}})};
  };
  op.ceiling = Ceiling{.resource = Resource::fma, .most_per_clock = most_per_clock};
  return op;
}

// CUDA C++ Programming Guide, throughput of native arithmetic instructions: 64-bit multiply-adds.
inline double most_per_clock_double(const Machine& machine, FormatPair) {
  switch (machine.compute_capability) {
    case 80:
      return 2 * 32;
    case 86:
    case 89:
      return 2 * 2;
    case 90:
      return 2 * 64;
    default:
      return 0;
  }
}

// It characterises a GPU and judges no kernel, so that the quick profile leaves it out.
inline Operation fma_double_peak() {
  Operation op = fma_peak();
  op.name = "fma_double_peak";
  op.formats = {Format::fp64};
  op.shapes = [](Profile profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0 || !at_least_standard(profile)) return {};
    return {Shape({{"n", kFmaDoubleChains * threads_of_wave(machine) * machine.units},
                   {"iterations", kWaveIterations}})};
  };
  op.ceiling->most_per_clock = most_per_clock_double;
  return op;
}

}  // namespace fma_detail

inline const RegisterOperation fma_peak{fma_detail::fma_peak()};
inline const RegisterOperation fma_double_peak{fma_detail::fma_double_peak()};

}  // namespace ridgebench
