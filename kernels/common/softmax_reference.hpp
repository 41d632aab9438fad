// The softmax of a row in double, for the references of softmax, cross_entropy and
// attention_decode, and how far the rounding errors of fp32 may move it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace ridgebench {

// p[i] = e^(x[i] - max) / sum with the row's maximum and sum = sum_i e^(x[i] - max).
struct SoftmaxOfRow {
  double max;
  double sum;
  // sqrt(n). The partial sums of positive terms grow up to the sum, and each of n additions rounds
  // one of them: an fp32 sum errs by c u sqrt(n) of itself (independent errors, Higham, Accuracy
  // and Stability of Numerical Algorithms, 2nd ed., section 4.2; harness/measure/verifying has c).
  double growth;

  // Expected::norm of an element with the share p: an error of fp32 in units of c u. It has that of
  // the sum; that of the exponent, because x - max is rounded to u |x - max|; 1 for the
  // exponential, the division and the products with constants; and half a step of subnormal
  // numbers, 2^-150, which an exponential below 2^-126 is off by, over c u = 2^-21.
  [[nodiscard]] double norm_of(double x, double p) const {
    return p * (growth + std::abs(x - max) + 1) + 0x1p-129 / sum;
  }
};

// Writes p; x and p have the n > 0 elements of a row and may be the same.
inline SoftmaxOfRow softmax_reference(std::span<const double> x, std::span<double> p) {
  SoftmaxOfRow row{*std::ranges::max_element(x), 0, std::sqrt(static_cast<double>(x.size()))};
  for (std::size_t i = 0; i < x.size(); ++i) {
    p[i] = std::exp(x[i] - row.max);
    row.sum += p[i];
  }
  for (double& share : p) share /= row.sum;
  return row;
}

}  // namespace ridgebench
