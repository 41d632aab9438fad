// Transposed copy of a matrix: y[n, m] = x[m, n]^T, both row-major. No FLOPs: it is a bandwidth and
// no point of a roofline. Bytes: x read, y written. Every element is exact.
#pragma once

#include <cmath>

#include "kernels/common/sweep.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {

inline const RegisterOperation transpose_copy{{
    .name = "transpose_copy",
    .dimensions = {"m", "n"},
    .of_step = true,
    .formats = kTrainingFormats,
    .flops = [](const Shape&) { return 0.0; },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      const std::int64_t elements = s["m"] * s["n"];
      return {{"x", elements, f.a}, {"y", elements, f.a, Access::written}};
    },
    .row_length = [](const Shape& s) { return s["m"]; },
    .reference =
        [](const Shape& s, std::int64_t row, std::span<const View> in, std::span<Expected> out) {
          std::int64_t at = row;
          for (Expected& y : out) {
            const double x = in[0][at];
            y = {x, std::abs(x)};
            at += s["n"];
          }
        },
    .reduction = [](const Shape&) { return 1.0; },
    .shapes =
        [](Profile profile, Pace pace, const Machine& machine) {
          return matrix_sweep(profile, pace, machine, 2 * sizeof(float));
        },
}};

}  // namespace ridgebench
