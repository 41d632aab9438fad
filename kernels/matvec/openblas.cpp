// Matrix-vector product by OpenBLAS (sgemv), the yardstick of fp32. Reading A once is its limit, as
// it is ours.
#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

const Registration openblas{
    {.operation = "matvec", .name = "openblas", .engine = Engine::fma, .origin = Origin::library},
    openblas_matvec};

}  // namespace
}  // namespace ridgebench
