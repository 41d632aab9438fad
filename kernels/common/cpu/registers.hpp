// How wide the vector registers are, for loops that must fill them and not more.
#pragma once

#include <cstdint>

namespace ridgebench::cpu {

// Floats in a vector register of the instruction set that the file is compiled for.
#if defined(RIDGEBENCH_ISA_LEVEL) && RIDGEBENCH_ISA_LEVEL >= 4
constexpr std::int64_t kVectorFloats = 16;
#elif defined(RIDGEBENCH_ISA_LEVEL) && RIDGEBENCH_ISA_LEVEL == 3
constexpr std::int64_t kVectorFloats = 8;
#else
constexpr std::int64_t kVectorFloats = 4;
#endif

// Independent running sums of a reduction. One running sum waits for each addition; eight registers
// hide 4 cycles of latency at 2 additions per cycle, what x86 cores of the last decade have.
constexpr std::int64_t kPartialSums = 8 * kVectorFloats;

}  // namespace ridgebench::cpu
