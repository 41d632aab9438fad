// Matrix product by OpenBLAS (sgemm), the yardstick of fp32. Which of its kernels runs is part of
// the version that a run records; the variable OPENBLAS_CORETYPE overrides its choice.
#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

const Registration openblas{
    {.operation = "matmul", .name = "openblas", .engine = Engine::fma, .origin = Origin::library},
    openblas_matmul};

}  // namespace
}  // namespace ridgebench
