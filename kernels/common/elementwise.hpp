// The specification that relu and gelu share: y[i] = f(x[i]), output in the input's format.
#pragma once

#include <string>

#include "kernels/common/operation.hpp"

namespace ridgebench {

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

}  // namespace ridgebench
