// Gradient of GeLU with its exponential as a polynomial (kernels/common/cpu/exp2.hpp): a few
// multiply-adds and one division for whole vectors at once. It streams large results past the
// caches. The limit is the memory bandwidth of three arrays.
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/gelu_slope.hpp"
#include "kernels/common/training_formats.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/pointwise.hpp"

namespace ridgebench {
namespace {

// An error of p changes the derivative by at most half of it, relative to the norm of the terms.
constexpr double kError = 0.5 * cpu::kExp2PolynomialError;

struct GeluBackward {
  [[gnu::always_inline]] float operator()(float x, float dy) const {
    constexpr float kEnd = kGeluSlopeEnd;
    const float inside = cpu::select(x < -kEnd, -kEnd, cpu::select(x > kEnd, kEnd, x));
    const float p = cpu::exp2_clamped(gelu_slope_exponent(inside));
    return dy * gelu_slope(inside, p, 1.0F / (1.0F + p));
  }
};

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* x, const T* dy, T* dx) {
  return cpu::pointwise_launch<GeluBackward>(queue, shape["n"], dx, x, dy);
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration exp2_polynomial{{.operation = "gelu_backward",
                                    .name = "exp2_polynomial",
                                    .engine = Engine::fma,
                                    .arithmetic = Format::fp32,
                                    .isa = cpu::kIsa,
                                    .approximation_error = kError},
                                   TrainingTypes{},
                                   []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
