// Cross-entropy of m rows of n logits with its gradient: loss[i] = log(sum_j e^(x[i,j])) - x[i,l_i]
// for the label l_i of row i, in fp32, and dx[i,j] = (softmax(x_i)[j] - [j = l_i]) / m, the
// gradient of the mean loss, in the format of the logits. x and dx are m x n, row-major; labels are
// int32, each from 0 to n - 1. 6mn FLOPs, an exponential and a division counted as one by
// convention: the five of a softmax (kernels/softmax) and the product with 1/m. The few of a row (a
// logarithm, the label's difference) are left out. Bytes: logits and labels are read once, loss and
// dx are written once, 2smn + 8m for formats of s bytes.
//
// Tolerance: softmax_reference.hpp derives the error of a probability. That of the label's element
// also has the rounding of 1. The loss has the relative error of the sum, which the logarithm makes
// absolute, and the roundings of its terms: the logarithm, the maximum and the label's logit.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/common/registry.hpp"
#include "kernels/common/softmax_reference.hpp"
#include "kernels/common/sweep.hpp"

namespace ridgebench {

namespace cross_entropy_detail {

// out: the loss of the row, then its gradient.
inline void reference(const Shape& s, std::int64_t row, std::span<const View> in,
                      std::span<Expected> out) {
  const std::int64_t n = s["n"];
  const auto label = static_cast<std::size_t>(in[1][row]);
  std::vector<double> x(static_cast<std::size_t>(n));
  std::vector<double> p(x.size());
  in[0].read(row * n, x);
  const SoftmaxOfRow of_row = softmax_reference(x, p);
  const auto m = static_cast<double>(s["m"]);
  double error = 0;  // of the sum, relative
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double is_label = j == label ? 1 : 0;
    const double of_element = of_row.norm_of(x[j], p[j]);
    out[1 + j] = {(p[j] - is_label) / m, (of_element + is_label) / m};
    error += of_element;
  }
  const double log = std::log(of_row.sum);
  out[0] = {log + of_row.max - x[label], error + log + std::abs(of_row.max) + std::abs(x[label])};
}

}  // namespace cross_entropy_detail

inline const RegisterOperation cross_entropy{{
    .name = "cross_entropy",
    .dimensions = {"m", "n"},
    .of_step = true,
    .formats = {Format::fp32, Format::fp16, Format::bf16},
    .flops =
        [](const Shape& s) {
          return 6.0 * static_cast<double>(s["m"]) * static_cast<double>(s["n"]);
        },
    .operands = [](const Shape& s, FormatPair f) -> std::vector<Operand> {
      const std::int64_t elements = s["m"] * s["n"];
      return {{"logits", elements, f.a, Access::read, {}, s["n"]},
              {"labels", s["m"], Format::int32, Access::read, integers_below(s["n"]), 1},
              {"loss", s["m"], Format::fp32, Access::written},
              {"dlogits", elements, f.a, Access::written}};
    },
    .row_length = [](const Shape&) { return std::int64_t{1}; },  // of the loss
    .reference = cross_entropy_detail::reference,
    // The norms hold the number of terms.
    .reduction = [](const Shape&) { return 1.0; },
    .shapes =
        [](Profile profile, Pace pace, const Machine& machine) {
          constexpr std::int64_t kColumns = 32768;  // a vocabulary
          return row_sweep(profile, pace, machine, 2 * sizeof(float), kColumns);
        },
    .special =
        [](const Shape& s) { return static_cast<double>(s["m"]) * static_cast<double>(s["n"]); },
    .refuses = [](const Shape& s) -> std::optional<std::string> {
      if (s["n"] <= std::int64_t{1} << 31U) return std::nullopt;
      return "n is too large for labels in int32; allowed: up to 2^31";
    },
}};

}  // namespace ridgebench
