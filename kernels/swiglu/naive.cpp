// SwiGLU with the C library's exponential, one element at a time. The limit is arithmetic: each
// exponential is a call.
#include <cmath>

#include "kernels/common/cpu/each.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {
namespace {

float swiglu(float gate, float up) { return gate / (1 + std::exp(-gate)) * up; }

const Registration naive{{.operation = "swiglu",
                          .name = "naive",
                          .engine = Engine::fma,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return cpu::bind_each<swiglu, T, T, T>; }};

}  // namespace
}  // namespace ridgebench
