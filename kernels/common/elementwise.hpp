// The specification of operations that compute each element of their outputs from the elements of
// their inputs with the same index.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgebench {

// y[i] = f(x[i]), output in the input's format: relu and gelu.
struct Elementwise {
  std::string name;
  double flops_per_element;
  double (*value)(double x);
  // 2-norm of the terms whose sum the value is; null: the value itself.
  double (*norm)(double x) = nullptr;
  double terms = 1;
  // Results of special functions per element.
  double special_per_element = 0;
};

// Dimension n. A row of the reference is a block of up to 256 elements.
Operation elementwise(const Elementwise& e);

// The first format of a pair; fp32 whatever the pair is.
inline Format first_format(FormatPair f) { return f.a; }
inline Format always_fp32(FormatPair /*f*/) { return Format::fp32; }

// An operand of n elements.
struct PointwiseOperand {
  std::string name;
  Access access = Access::read;
  Format (*format)(FormatPair) = first_format;
  Values values = {};  // of an operand that is read
};

// Writes `count` elements of every output, from as many of every input.
using PointwiseBlock = std::function<void(std::span<const double* const> in,
                                          std::span<Expected* const> out, std::size_t count)>;

// The block of a function of one element: std::array<Expected, kOutputs> from
// std::array<double, kInputs>.
template <std::size_t kInputs, std::size_t kOutputs, class Function>
PointwiseBlock each_element(Function function) {
  return [function = std::move(function)](std::span<const double* const> in,
                                          std::span<Expected* const> out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::array<double, kInputs> x{};
      for (std::size_t j = 0; j < kInputs; ++j) x[j] = in[j][i];
      const std::array<Expected, kOutputs> y = function(x);
      for (std::size_t j = 0; j < kOutputs; ++j) out[j][i] = y[j];
    }
  };
}

// Operations of any number of inputs and outputs, of which some may be updated in place.
struct Pointwise {
  std::string name;
  std::vector<FormatPair> formats;
  double flops_per_element;
  std::vector<PointwiseOperand> operands;  // in the order of bind's pointers
  PointwiseBlock block;
  double terms = 1;  // of the output with the most terms
  double special_per_element = 0;
  bool of_step = false;
};

// Dimension n, as above.
Operation pointwise(const Pointwise& p);

}  // namespace ridgebench
