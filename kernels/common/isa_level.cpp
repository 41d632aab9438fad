#include "kernels/common/isa_level.hpp"

#if defined(__aarch64__)
#include <sys/prctl.h>
#endif

namespace ridgebench {

Isa host_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::v4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::v3;
  return Isa::v2;
#elif defined(__aarch64__)
  return host_sve_bytes() > 0 ? Isa::sve : Isa::armv8;
#else
  return Isa::none;
#endif
}

int host_sve_bytes() {
#if defined(__aarch64__)
  const int vector_length = prctl(PR_SVE_GET_VL);  // fails without SVE
  return vector_length < 0 ? 0 : vector_length & PR_SVE_VL_LEN_MASK;
#else
  return 0;
#endif
}

}  // namespace ridgebench
