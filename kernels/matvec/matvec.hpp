// Matrix-vector product: y[M] = A[M,N] x[N], A row-major, 2mn FLOPs: autoregressive decode. Output
// in the input's format, fp8 in bf16.
#pragma once

#include "kernels/common/registry.hpp"
#include "kernels/common/sum_of_terms.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

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
    .shapes =
        [](Profile profile, Pace pace, const Machine& machine) {
          return matrix_sweep(profile, pace, machine, sizeof(float));
        },
}};

}  // namespace ridgebench
