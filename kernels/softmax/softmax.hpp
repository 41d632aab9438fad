// Softmax of each row: y[i,j] = e^(x[i,j] - max_i) / sum_j e^(x[i,j] - max_i). x and y are m x n,
// row-major. 5mn FLOPs, an exponential and a division counted as one by convention: for each
// element a comparison, the difference from the maximum, its exponential, an addition and a
// division. Bytes: x is read once and y is written once, 2smn for formats of s bytes.
//
// Tolerance: softmax_reference.hpp derives the error of an element.
#pragma once

#include <vector>

#include "kernels/common/registry.hpp"
#include "kernels/common/softmax_reference.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

inline const RegisterOperation softmax{{
    .name = "softmax",
    .dimensions = {"m", "n"},
    .of_step = true,
    .formats = {Format::fp32, Format::fp16, Format::bf16},
    .flops =
        [](const Shape& s) {
          return 5.0 * static_cast<double>(s["m"]) * static_cast<double>(s["n"]);
        },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      const std::int64_t elements = s["m"] * s["n"];
      return {{"x", elements, f.a, Access::read, {}, s["n"]},
              {"y", elements, f.a, Access::written}};
    },
    .row_length = [](const Shape& s) { return s["n"]; },
    .reference =
        [](const Shape& s, std::int64_t row, std::span<const View> in, std::span<Expected> out) {
          std::vector<double> x(out.size());
          std::vector<double> p(out.size());
          in[0].read(row * s["n"], x);
          const SoftmaxOfRow of_row = softmax_reference(x, p);
          for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = {p[i], of_row.norm_of(x[i], p[i])};
          }
        },
    // The norm holds the number of terms.
    .reduction = [](const Shape&) { return 1.0; },
    .shapes =
        [](Profile profile, Pace pace, const Machine& machine) {
          constexpr std::int64_t kColumns = 4096;
          return row_sweep(profile, pace, machine, 2 * sizeof(float), kColumns);
        },
    .special =
        [](const Shape& s) { return static_cast<double>(s["m"]) * static_cast<double>(s["n"]); },
}};

}  // namespace ridgebench
