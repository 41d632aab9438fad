// Gradient of GeLU with the C library's exponential, one element at a time. The limit is
// arithmetic: each exponential is a call.
#include <cmath>

#include "kernels/common/cpu/each.hpp"
#include "kernels/common/gelu_slope.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {
namespace {

float gelu_backward(float x, float dy) {
  const float inside = gelu_slope_range(x);
  const float p = std::exp2(gelu_slope_exponent(inside));
  return dy * gelu_slope(inside, p, 1 / (1 + p));
}

const Registration naive{{.operation = "gelu_backward",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return cpu::bind_each<gelu_backward, T, T, T>; }};

}  // namespace
}  // namespace ridgebench
