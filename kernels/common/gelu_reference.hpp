// GeLU, tanh form: y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); Hendrycks and Gimpel, arXiv
// 1606.08415. In double, for the references of gelu and of matmul's fused epilogue.
#pragma once

#include <cmath>
#include <numbers>

namespace ridgebench {

// The lecture's convention: tanh expanded. A bias costs one more.
inline constexpr double kGeluFlops = 20;

// By the exponential, because std::tanh takes several times as long. Its error is that of a number
// near 1, and so far below the norm of the terms.
inline double gelu_tanh(double x) {
  const double scale = std::sqrt(2.0 * std::numbers::inv_pi);
  return 1 - 2 / (1 + std::exp(2 * scale * (x + 0.044715 * x * x * x)));
}

inline double gelu_reference(double x) { return x * (0.5 + 0.5 * gelu_tanh(x)); }

// The derivative is (1 + t) / 2 plus this, with t = gelu_tanh(x): x/2 (1 - t^2) du/dx.
inline double gelu_slope_of_tanh(double x, double t) {
  const double scale = std::sqrt(2.0 * std::numbers::inv_pi);
  return x / 2 * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

// 2-norm of its two terms, x/2 and x/2 tanh(...), which cancel for negative x.
inline double gelu_norm(double x) {
  const double tanh = gelu_tanh(x);
  return 0.5 * std::abs(x) * std::sqrt(1 + tanh * tanh);
}

// Largest |dy/dx|: how much of an error in x reaches y.
inline constexpr double kGeluMaxSlope = 1.13;

}  // namespace ridgebench
