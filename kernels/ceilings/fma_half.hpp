// Ceiling of the multiply-add units in 16-bit formats: n independent chains in which product and
// sum are rounded to the format after every step. Steps of a contraction would soon be rounded
// away; the chains are therefore those of x <- x^2 + c, chaotic for this c, from a quarter of the
// input on. Every step shows: the result is compared bit for bit with one rounding per step, and
// the rounded chains end in cycles that no halving of the work preserves.
#pragma once

#include <cmath>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// One wave runs for a millisecond or two. Half of the steps leave no chain in a cycle where it was:
// 769 is prime.
inline constexpr std::int64_t kFmaHalfIterations = std::int64_t{32} * 769;
// Exact in both formats. The values stay in [c, c + c^2] and, apart from 0 itself, above 2^-11 in
// magnitude: nothing overflows or becomes subnormal.
inline constexpr float kFmaHalfAddend = -1.6875F;
inline constexpr float kFmaHalfStart = 0.25F;
// Pairs of chains of a GPU's thread: as many as 32 registers hold, with which an SM runs 2048
// threads.
inline constexpr int kFmaHalfPairs = 6;

namespace fma_half_detail {

inline constexpr std::int64_t kRowLength = 256;

// `value`, not subnormal, to the nearest number of the format, ties to even. Through encode() it
// would be rounded to float first.
inline double rounded(double value, Format format) {
  if (value == 0) return value;
  const int shift = info(format).mantissa_bits - std::ilogb(value);
  return std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
}

// A double holds product and sum exactly.
inline double run_chain(double x, std::int64_t iterations, Format format) {
  double chain = kFmaHalfStart * x;
  for (std::int64_t i = 0; i < iterations; ++i) {
    chain = rounded(chain * chain + kFmaHalfAddend, format);
  }
  return chain;
}

// CUDA C++ Programming Guide, throughput of native arithmetic instructions: results of 16-bit
// multiply-adds. Not documented for all of Blackwell.
inline double most_per_clock(const Machine& machine, FormatPair format) {
  switch (machine.compute_capability) {
    case 80:
      return format.a == Format::fp16 ? 2 * 256 : 2 * 128;
    case 86:
    case 89:
      return 2 * 128;
    case 90:
      return 2 * 256;
    default:
      return 0;
  }
}

inline Operation fma_half_peak() {
  Operation op;
  op.name = "fma_half_peak";
  op.dimensions = {"n", "iterations"};
  op.formats = {Format::fp16, Format::bf16};
  op.flops = [](const Shape& s) {
    return 2.0 * static_cast<double>(s["n"]) * static_cast<double>(s["iterations"]);
  };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reference = [](const Shape& s, std::int64_t row, std::span<const View> in,
                    std::span<Expected> out) {
    std::int64_t i = row * kRowLength;
    for (Expected& y : out) {
      y = {run_chain(in[0][i], s["iterations"], in[0].format), 0};  // no error is allowed
      ++i;
    }
  };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["iterations"]); };
  // Some milliseconds at 128 or 256 multiply-adds per clock; hosts have nothing of the kind.
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0) return {};
    return {
        Shape({{"n", std::int64_t{2} * kFmaHalfPairs * threads_of_wave(machine) * machine.units},
               {"iterations", kFmaHalfIterations}})};
  };
  op.ceiling = Ceiling{.resource = Resource::fma, .most_per_clock = most_per_clock};
  return op;
}

}  // namespace fma_half_detail

inline const RegisterOperation fma_half_peak{fma_half_detail::fma_half_peak()};

}  // namespace ridgebench
