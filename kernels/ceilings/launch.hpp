// Floor of a launch: n launches one after another, each with no work but one word copied, so that
// every one of them can be verified. The cost of one is the time divided by n.
#pragma once

#include <cmath>

#include "kernels/common/registry.hpp"

namespace ridgebench {

namespace launch_detail {

// So many that what surrounds them, a graph's own start among others, is lost in the rest.
inline constexpr std::int64_t kLaunches = 256;

inline Operation launch() {
  Operation op;
  op.name = "launch";
  op.dimensions = {"n"};
  op.formats = {Format::fp32};
  op.flops = [](const Shape&) { return 0.0; };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"x", s["n"], f.a}, {"y", s["n"], f.a, Access::written}};
  };
  op.row_length = [](const Shape& s) { return s["n"]; };
  op.reference = [](const Shape&, std::int64_t, std::span<const View> in, std::span<Expected> out) {
    std::int64_t i = 0;
    for (Expected& y : out) {
      y = {in[0][i], std::abs(in[0][i])};
      ++i;
    }
  };
  op.reduction = [](const Shape&) { return 1.0; };
  op.shapes = [](Profile, Pace, const Machine&) -> std::vector<Shape> {
    return {Shape({{"n", kLaunches}})};
  };
  op.ceiling = Ceiling{Resource::launch};
  return op;
}

}  // namespace launch_detail

inline const RegisterOperation launch{launch_detail::launch()};

}  // namespace ridgebench
