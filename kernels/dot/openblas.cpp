// Dot product by OpenBLAS (sdot), the yardstick of fp32. The library runs it on one thread, however
// many it may use: the limit is one core's share of the memory bandwidth.
#include "kernels/common/cpu/openblas.hpp"

#include "kernels/common/registry.hpp"

namespace ridgebench {
namespace {

const Registration openblas{{.operation = "dot",
                             .name = "openblas",
                             .engine = Engine::fma,
                             .origin = Origin::library,
                             .supports = supports_openblas},
                            Types<float>{},
                            []<class>() { return openblas_dot; }};

}  // namespace
}  // namespace ridgebench
