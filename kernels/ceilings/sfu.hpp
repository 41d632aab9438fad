// Ceilings of the special functions of a GPU, tanh and 2^x: n independent sums of f(x + i h) over
// i = 1 ... iterations, with h = 1 / iterations, so that every result shows. One FLOP is counted
// for a result of f, none for the two additions beside it.
#pragma once

#include <cmath>

#include "kernels/ceilings/gpu_chains.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

inline constexpr std::int64_t kSfuIterations = 1024;
inline constexpr float kSfuStep = 1.0F / kSfuIterations;  // exact
inline constexpr int kSfuSums = 4;                        // of a GPU's thread

namespace sfu_detail {

inline constexpr std::int64_t kRowLength = 256;

// CUDA C++ Programming Guide, throughput of native arithmetic instructions: 16 results of special
// functions. Compute capability 10.3 has 2^x at twice that.
inline double tanh_per_clock(const Machine& machine, FormatPair) {
  return machine.compute_capability >= 80 ? 16 : 0;
}

inline double exp2_per_clock(const Machine& machine, FormatPair format) {
  return machine.compute_capability == 103 ? 32 : tanh_per_clock(machine, format);
}

inline Operation sfu(const std::string& name, double (*function)(double),
                     double (*most_per_clock)(const Machine&, FormatPair)) {
  const auto results = [](const Shape& s) {
    return static_cast<double>(s["n"]) * static_cast<double>(s["iterations"]);
  };
  Operation op;
  op.name = name;
  op.dimensions = {"n", "iterations"};
  op.formats = {Format::fp32};
  op.flops = results;
  op.special = results;
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.a, Access::written}};
  };
  op.row_length = [](const Shape&) { return kRowLength; };
  op.reference = [=](const Shape& s, std::int64_t row, std::span<const View> in,
                     std::span<Expected> out) {
    std::int64_t at = row * kRowLength;
    for (Expected& y : out) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t i = 1; i <= s["iterations"]; ++i) {
        const double term = function(in[0][at] + static_cast<double>(i) * kSfuStep);
        sum += term;
        magnitude += std::abs(term);
      }
      // An approximation errs in one direction over a whole range: the 1-norm.
      y = {sum, magnitude};
      ++at;
    }
  };
  op.reduction = [](const Shape& s) { return static_cast<double>(s["iterations"]); };
  // Some milliseconds at 16 results per clock; hosts have no instruction of the kind.
  op.shapes = [](Profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (machine.compute_capability == 0) return {};
    return {Shape({{"n", std::int64_t{2} * kSfuSums * kWholeWaveThreads * machine.units},
                   {"iterations", kSfuIterations}})};
  };
  op.ceiling = Ceiling{.resource = Resource::sfu, .most_per_clock = most_per_clock};
  return op;
}

}  // namespace sfu_detail

inline const RegisterOperation sfu_tanh{
    sfu_detail::sfu("sfu_tanh", std::tanh, sfu_detail::tanh_per_clock)};
inline const RegisterOperation sfu_exp2{
    sfu_detail::sfu("sfu_exp2", std::exp2, sfu_detail::exp2_per_clock)};

}  // namespace ridgebench
