// Addition, one element at a time. The limit is memory bandwidth in fp32, elsewhere the
// conversions.
#include "kernels/common/cpu/each.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {
namespace {

float add(float x, float y) { return x + y; }

const Registration naive{{.operation = "add",
                          .name = "naive",
                          .engine = Engine::memory,
                          .arithmetic = Format::fp32,
                          .pace = Pace::naive},
                         TrainingTypes{},
                         []<class T>() { return cpu::bind_each<add, T, T, T>; }};

}  // namespace
}  // namespace ridgebench
