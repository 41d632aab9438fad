#include "kernels/common/isa_level.hpp"

#include "kernels/common/cpu/cpuid.hpp"

#if defined(__aarch64__)
#include <sys/prctl.h>
#endif

namespace ridgebench {

Isa host_isa() {
#if defined(__x86_64__)
  // __builtin_cpu_supports also checks that the operating system saves the registers.
  using cpu::has_bit;
  const unsigned features = cpu::cpuid(1, 0).ecx;
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                  has_bit(features, cpu::kMovbe) && has_bit(features, cpu::kF16c) &&
                  has_bit(cpu::cpuid(0x80000001, 0).ecx, cpu::kLzcnt);
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4) return Isa::v4;
  if (v3) return Isa::v3;
  return Isa::v2;
#elif defined(__aarch64__)
  return host_sve_bytes() > 0 ? Isa::sve : Isa::armv8;
#else
  return Isa::none;
#endif
}

Isa only_isa() {
#ifdef RIDGEBENCH_ONLY_ISA
  return Isa::RIDGEBENCH_ONLY_ISA;
#else
  return Isa::none;
#endif
}

std::string wrong_isa(Isa only, Isa host) {
  if (only == Isa::none || only == host) return "";
  std::string message = "this program was built for ";
  message.append(name(only)).append(" processors only, and this one is ").append(name(host));
  return message + "; allowed: build it here, or with -DRIDGEBENCH_HOST_LEVELS=all";
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
