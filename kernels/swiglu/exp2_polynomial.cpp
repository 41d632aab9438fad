// SwiGLU with its exponential as a polynomial (kernels/common/cpu/exp2.hpp): a few multiply-adds
// and one division for whole vectors at once. It streams large results past the caches. The limit
// is the memory bandwidth of three arrays.
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/exp2.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/training_formats.hpp"

#include "kernels/common/cpu/target_begin.hpp"
#include "kernels/common/cpu/pointwise.hpp"

namespace ridgebench {
namespace {

// An error of p = 2^t changes h by p / (1 + p)^2 of it times gate up, and the norm of the terms is
// at least half of gate up.
constexpr double kError = 0.5 * cpu::kExp2PolynomialError;

struct Swiglu {
  [[gnu::always_inline]] float operator()(float gate, float up) const {
    constexpr float kLog2E = 1.442695041F;
    // Beyond this end 2^t is infinity, and the quotient 0.
    const float t = cpu::select(gate < -88.0F, 127.9F, -kLog2E * gate);
    return gate / (1.0F + cpu::exp2_clamped(cpu::select(t < -126.0F, -126.0F, t))) * up;
  }
};

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* gate, const T* up, T* h) {
  return cpu::pointwise_launch<Swiglu>(queue, shape["n"], h, gate, up);
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration exp2_polynomial{{.operation = "swiglu",
                                    .name = "exp2_polynomial",
                                    .engine = Engine::fma,
                                    .arithmetic = Format::fp32,
                                    .isa = cpu::kIsa,
                                    .approximation_error = kError},
                                   TrainingTypes{},
                                   []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
