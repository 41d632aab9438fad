// The passes of a softmax over a row of n > 0 elements, one element after the other, for the naive
// techniques of a host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/common/format.hpp"

namespace ridgebench::cpu {

template <class T>
float plain_max(const T* x, std::int64_t n) {
  float max = decode(x[0]);
  for (std::int64_t i = 1; i < n; ++i) max = std::max(max, decode(x[i]));
  return max;
}

// The sum of e^(x[i] - max).
template <class T>
float plain_exp_sum(const T* x, std::int64_t n, float max) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(decode(x[i]) - max);
  return sum;
}

}  // namespace ridgebench::cpu
