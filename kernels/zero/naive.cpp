// Zeros, one element at a time. A processor that stores through a cache first reads the line that
// it overwrites. The limit is memory bandwidth.
#include "kernels/common/cpu/each.hpp"
#include "kernels/common/training_formats.hpp"

namespace ridgebench {
namespace {

float zero() { return 0; }

const Registration naive{
    {.operation = "zero", .name = "naive", .engine = Engine::memory, .pace = Pace::naive},
    TrainingTypes{},
    []<class T>() { return cpu::bind_each<zero, T>; }};

}  // namespace
}  // namespace ridgebench
