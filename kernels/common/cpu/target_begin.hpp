// Opens a region whose functions are compiled for one instruction set; target_end.hpp closes it.
// A .cpp that includes this file is compiled once each for x86-64-v2, -v3 (AVX2, FMA, F16C) and -v4
// (AVX-512), or once for armv8-a; the registry keeps the newest that the processor has. Include
// every other header before the region, and register after it: code that runs at start-up, and
// functions that another file could link to, must stay within x86-64-v2 or armv8-a. No include
// guard: a .cpp has one region.

#include "kernels/common/isa_level.hpp"
#include "kernels/common/machine.hpp"

#ifndef RIDGEBENCH_ISA
#error \
    "the build defines RIDGEBENCH_ISA; it searches for the include line of this file, spelt in full"
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if defined(__x86_64__) && RIDGEBENCH_ISA_LEVEL == 3
#pragma GCC target("arch=x86-64-v3,prfchw")
#elif defined(__x86_64__) && RIDGEBENCH_ISA_LEVEL == 4
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512,prfchw")
#elif defined(__aarch64__) && RIDGEBENCH_ISA_LEVEL == 1
#pragma GCC target("arch=armv8-a+sve")
#endif
#endif

namespace ridgebench::cpu {
constexpr Isa kIsa = Isa::RIDGEBENCH_ISA;
// fp32 lanes of a vector register; of ARM those of NEON.
constexpr int kLanes = RIDGEBENCH_ISA_LEVEL == 4 ? 16 : RIDGEBENCH_ISA_LEVEL == 3 ? 8 : 4;
// Technique::full_rate of a ceiling that works on registers of kLanes: NEON reaches a part of the
// rate where a processor's SVE has wider ones. Static: the levels differ.
static constexpr bool fills_registers(const Machine& machine) {
  return machine.sve_bytes <= kLanes * static_cast<int>(sizeof(float));
}
}  // namespace ridgebench::cpu
