// RMSNorm of each row: y[i,j] = x[i,j] w[j] / sqrt(mean_j x[i,j]^2 + eps). x and y are m x n,
// row-major, w has n elements; Zhang and Sennrich, arXiv 1910.07467. 4mn + 3m FLOPs: for each
// element a multiply-add of its square and two products, for each row a division by n, the addition
// of eps and a reciprocal square root. Bytes: x and w are read once and y is written once, s(2mn +
// n) for formats of s bytes.
//
// Tolerance: the sum S of n squares, which are positive, errs by c u sqrt(n) S
// (softmax_reference.hpp), and y by half of that share of S + n eps. Its six other roundings are
// less than c u |y|.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/registry.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

namespace rmsnorm_detail {

inline void reference(const Shape& s, std::int64_t row, std::span<const View> in,
                      std::span<Expected> out) {
  std::vector<double> x(out.size());
  std::vector<double> w(out.size());
  in[0].read(row * s["n"], x);
  in[1].read(0, w);
  double sum = 0;
  for (const double value : x) sum += value * value;
  const auto n = static_cast<double>(s["n"]);
  const double whole = sum + n * s.attribute("eps");
  const double error = 1 + 0.5 * std::sqrt(n) * sum / whole;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double y = x[i] * w[i] * std::sqrt(n / whole);
    out[i] = {y, std::abs(y) * error};
  }
}

// Kernels add eps in fp32, which has other numbers not at all, or with fewer bits.
inline std::optional<std::string> refuses_eps(const Shape& s) {
  const double eps = s.attribute("eps");
  if (eps == 0 || (eps >= 1e-37 && eps <= 1e37)) return std::nullopt;
  return fmt::format("eps is {}; allowed: 0, or from 1e-37 to 1e37", eps);
}

}  // namespace rmsnorm_detail

inline const RegisterOperation rmsnorm{{
    .name = "rmsnorm",
    .dimensions = {"m", "n"},
    .of_step = true,
    .attributes = {{"eps", 1e-5}},
    .formats = {Format::fp32, Format::fp16, Format::bf16},
    .flops =
        [](const Shape& s) {
          const auto m = static_cast<double>(s["m"]);
          return 4 * m * static_cast<double>(s["n"]) + 3 * m;
        },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      const std::int64_t elements = s["m"] * s["n"];
      return {{"x", elements, f.a, Access::read, {}, s["n"]},
              {"w", s["n"], f.a},
              {"y", elements, f.a, Access::written}};
    },
    .row_length = [](const Shape& s) { return s["n"]; },
    .reference = rmsnorm_detail::reference,
    // The norm holds the number of terms.
    .reduction = [](const Shape&) { return 1.0; },
    .shapes =
        [](Profile profile, Pace pace, const Machine& machine) {
          constexpr std::int64_t kColumns = 4096;
          return row_sweep(profile, pace, machine, 2 * sizeof(float), kColumns);
        },
    .special = [](const Shape& s) { return static_cast<double>(s["m"]); },
    .refuses = rmsnorm_detail::refuses_eps,
}};

}  // namespace ridgebench
