// The 2-norm of two numbers. std::hypot needs glibc 2.35, and the numbers here are far from the
// limits of a double.
#pragma once

#include <cmath>

namespace ridgebench {

inline double norm_of(double a, double b) { return std::sqrt(a * a + b * b); }

}  // namespace ridgebench
