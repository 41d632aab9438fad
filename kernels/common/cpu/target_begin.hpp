// Opens a region whose functions are compiled for one instruction set; target_end.hpp closes it.
// Including this file makes the build compile the including .cpp once each for x86-64-v2, -v3
// (AVX2, FMA, F16C) and -v4 (AVX-512); the registry keeps the newest that the processor has.
// Include every other header before, and register after the region: what runs at start-up, and
// whatever another file could link to, must stay within x86-64-v2. No include guard: a region may
// be opened more than once in a file.

#include "kernels/common/isa_level.hpp"

#ifndef RIDGEBENCH_ISA
#error "the build defines RIDGEBENCH_ISA; it looks for the include line of this file, spelt in full"
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if RIDGEBENCH_ISA_LEVEL == 3
#pragma GCC target("arch=x86-64-v3,prfchw")
#elif RIDGEBENCH_ISA_LEVEL == 4
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512,prfchw")
#endif
#endif

namespace ridgebench::cpu {
inline constexpr Isa kIsa = Isa::RIDGEBENCH_ISA;
}  // namespace ridgebench::cpu
