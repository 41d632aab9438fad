// Dot product by OpenBLAS (sdot), the yardstick of fp32. It runs on one thread whatever it is
// allowed, so that one core's share of the memory bandwidth is its limit.
#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

const Registration openblas{
    {.operation = "dot", .name = "openblas", .engine = Engine::fma, .origin = Origin::library},
    openblas_dot};

}  // namespace
}  // namespace ridgebench
