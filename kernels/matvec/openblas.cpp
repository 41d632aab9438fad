// Matrix-vector product by OpenBLAS (sgemv), the yardstick of fp32. The limit is the bandwidth of
// reading A once, as it is for our kernels.
#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

const Registration openblas{{.operation = "matvec",
                             .name = "openblas",
                             .engine = Engine::fma,
                             .origin = Origin::library,
                             .supports = supports_openblas},
                            Types<float>{},
                            []<class>() { return openblas_matvec; }};

}  // namespace
}  // namespace ridgebench
