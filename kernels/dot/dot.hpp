// Dot product: s = sum x[i] y[i], 2n FLOPs (exactly 2n - 1); s in fp32.
#pragma once

#include "kernels/common/registry.hpp"
#include "kernels/common/sum_of_terms.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

inline const RegisterOperation dot{{
    .name = "dot",
    .dimensions = {"n"},
    .formats = {Format::fp32, Format::fp16, Format::bf16, Format::fp8_e4m3, Format::fp8_e5m2},
    .flops = [](const Shape& s) { return 2.0 * static_cast<double>(s["n"]); },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      return {{"x", s["n"], f.a}, {"y", s["n"], f.b}, {"s", 1, Format::fp32, Access::written}};
    },
    .row_length = [](const Shape&) { return std::int64_t{1}; },
    .reference =
        [](const Shape& s, std::int64_t /*row*/, std::span<const View> in,
           std::span<Expected> out) { out[0] = sum_of_terms(s["n"], products(in[0], 0, in[1])); },
    .reduction = [](const Shape& s) { return static_cast<double>(s["n"]); },
    .shapes =
        [](Profile profile, Pace pace, const Machine& machine) {
          return vector_sweep(profile, pace, machine, 2 * sizeof(float));
        },
}};

}  // namespace ridgebench
