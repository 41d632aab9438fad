#include "kernels/common/isa_level.hpp"

namespace ridgebench {

Isa host_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::v4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::v3;
#endif
  return Isa::v2;
}

}  // namespace ridgebench
