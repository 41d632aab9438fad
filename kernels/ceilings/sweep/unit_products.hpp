// The same product on every multiprocessor of a GPU, and on every thread of a host: which one
// computes other bits? Row u of y is what unit u made of A and B, in each of its four parts:
// y[u][part] = iterations A B^T, where A is m x k, B is n x k, both row-major. The harness finds
// the units by the first dimension, which is called `units`. It is not a roof.
#pragma once

#include <cmath>

#include "kernels/ceilings/products.hpp"

namespace ridgebench {

// An SM has four partitions with a tensor core each ("NVIDIA H100 Tensor Core GPU Architecture").
inline constexpr std::int64_t kUnitParts = 4;

namespace unit_products_detail {

inline Operation unit_products() {
  Operation op = products_detail::products(
      "unit_products",
      {.resource = Resource::tensor,
       .most_per_clock = products_detail::tensor_flops_per_clock,
       .sweep = true},
      {Format::tf32, Format::fp16, Format::bf16}, kTensorTile, 1, kProductIterations);
  op.dimensions.front() = "units";
  op.flops = [](const Shape& s) {
    return 2.0 * static_cast<double>(s["units"] * kUnitParts * s["m"] * s["n"] * s["k"]) *
           static_cast<double>(s["iterations"]);
  };
  op.operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
    return {{"a", s["m"] * s["k"], f.a},
            {"b", s["n"] * s["k"], f.b},
            {"y", s["units"] * kUnitParts * s["m"] * s["n"], sum_format(f.a), Access::written}};
  };
  op.row_length = [](const Shape& s) { return kUnitParts * s["m"] * s["n"]; };
  op.reference = [](const Shape& s, std::int64_t, std::span<const View> in,
                    std::span<Expected> out) {
    const auto times = static_cast<double>(s["iterations"]);
    const std::int64_t tile = s["m"] * s["n"];
    for (std::int64_t e = 0; e < tile; ++e) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t p = 0; p < s["k"]; ++p) {
        const double term = in[0][e / s["n"] * s["k"] + p] * in[1][e % s["n"] * s["k"] + p];
        sum += term;
        magnitude += std::abs(term);
      }
      for (std::int64_t part = 0; part < kUnitParts; ++part) {
        out[static_cast<std::size_t>(part * tile + e)] = {times * sum, times * magnitude};
      }
    }
  };
  op.shapes = [](Profile profile, Pace, const Machine& machine) -> std::vector<Shape> {
    if (!at_least_standard(profile)) return {};
    // A host's thread takes some milliseconds for a sixteenth.
    const std::int64_t iterations =
        machine.compute_capability == 0 ? kProductIterations / 16 : kProductIterations;
    return {Shape({{"units", machine.units},
                   {"m", kTensorTile.m},
                   {"n", kTensorTile.n},
                   {"k", kTensorTile.k},
                   {"iterations", iterations}})};
  };
  return op;
}

}  // namespace unit_products_detail

inline const RegisterOperation unit_products{unit_products_detail::unit_products()};

}  // namespace ridgebench
