#include "kernels/common/isa_level.hpp"

#include "kernels/common/cpu/cpuid.hpp"

namespace ridgebench {

Isa host_isa() {
#if defined(__x86_64__)
  // __builtin_cpu_supports also asks whether the operating system saves the registers.
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
#endif
  return Isa::v2;
}

}  // namespace ridgebench
