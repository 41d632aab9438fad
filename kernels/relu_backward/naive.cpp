// Gradient of ReLU, one element at a time. The limit is memory bandwidth in fp32, elsewhere the
// conversions.
#include "kernels/common/cpu/each.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {
namespace {

float relu_backward(float x, float dy) { return x > 0 ? dy : 0; }

const Registration naive{{.operation = "relu_backward",
                          .name = "naive",
                          .engine = Engine::memory,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return cpu::bind_each<relu_backward, T, T, T>; }};

}  // namespace
}  // namespace ridgebench
