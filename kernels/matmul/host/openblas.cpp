// Matrix product by OpenBLAS (sgemm), the yardstick of fp32. The library's version, which a run
// records, names the core type of its kernels; OPENBLAS_CORETYPE overrides that choice.
#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

const Registration openblas{{.operation = "matmul",
                             .name = "openblas",
                             .engine = Engine::fma,
                             .origin = Origin::library,
                             .supports = supports_openblas,
                             .optional_dimensions = true},
                            Types<float>{},
                            []<class>() { return openblas_matmul; }};

}  // namespace
}  // namespace ridgebench
