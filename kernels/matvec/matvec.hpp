// Matrix-vector product: y[M] = A[M,N] x[N], A row-major, 2mn FLOPs: autoregressive decode. Output
// in the input's format, fp8 in bf16.
#pragma once

#include <bit>

#include "kernels/common/registry.hpp"
#include "kernels/common/sum_of_terms.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

namespace matvec_detail {

inline Shape shape(std::int64_t m, std::int64_t n) { return Shape({{"m", m}, {"n", n}}); }

// The side of a square matrix of dram_elements in fp32, then smaller ones.
inline std::vector<Shape> sweep(Profile profile, Pace pace, const Machine& machine) {
  const auto elements = static_cast<std::uint64_t>(dram_elements(machine, sizeof(float)));
  const std::int64_t side = std::int64_t{1} << ((std::bit_width(elements)) / 2);
  const std::int64_t first = pace == Pace::naive ? side / 4 : side;
  std::vector<Shape> shapes{shape(first, first)};
  if (at_least_standard(profile)) {
    for (const std::int64_t n : {side / 4, side / 16}) shapes.push_back(shape(n, n));
  }
  if (profile == Profile::full) {
    for (const std::int64_t n : {side / 2, side / 8, side / 64}) shapes.push_back(shape(n, n));
    shapes.push_back(shape(4 * side, side / 4));
    shapes.push_back(shape(side / 4 + 1, 4 * side - 1));
  }
  return shapes;
}

}  // namespace matvec_detail

inline const RegisterOperation matvec{{
    .name = "matvec",
    .dimensions = {"m", "n"},
    .formats = {Format::fp32, Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2},
    .flops =
        [](const Shape& s) {
          return 2.0 * static_cast<double>(s["m"]) * static_cast<double>(s["n"]);
        },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      return {{"a", s["m"] * s["n"], f.a, Access::read, {}, s["n"]},
              {"x", s["n"], f.b},
              {"y", s["m"], product_format(f), Access::written}};
    },
    .row_length = [](const Shape&) { return std::int64_t{1}; },
    .reference =
        [](const Shape& s, std::int64_t row, std::span<const View> in, std::span<Expected> out) {
          out[0] = sum_of_terms(s["n"], products(in[0], row * s["n"], in[1]));
        },
    .reduction = [](const Shape& s) { return static_cast<double>(s["n"]); },
    .shapes = matvec_detail::sweep,
}};

}  // namespace ridgebench
