// wgmma in int8 (wgmma.cuh): D = A B + D with A of 64 x 32, B of 32 x 256, both in shared memory,
// K-major, and D of 64 x 256 in int32 in registers. A sum that leaves int32 wraps around. Source:
// PTX ISA, "wgmma.mma_async". Compute capability 9.0 only.
#pragma once

#include "kernels/common/cuda/ptx/wgmma.cuh"

namespace ridgebench::cuda {

using WgmmaInt8Accumulators = std::int32_t[128];

// clang-format off
#define RIDGEBENCH_8_REGISTERS(i)                                                                 \
  "+r"(d[i]), "+r"(d[(i) + 1]), "+r"(d[(i) + 2]), "+r"(d[(i) + 3]),                                \
  "+r"(d[(i) + 4]), "+r"(d[(i) + 5]), "+r"(d[(i) + 6]), "+r"(d[(i) + 7])
#define RIDGEBENCH_32_REGISTERS(i)                                                                \
  RIDGEBENCH_8_REGISTERS(i), RIDGEBENCH_8_REGISTERS((i) + 8), RIDGEBENCH_8_REGISTERS((i) + 16),    \
  RIDGEBENCH_8_REGISTERS((i) + 24)

// Starts D = A B + D, or without `scale_d` D = A B. `a` and `b` are matrix descriptors. The whole
// warpgroup must call it.
__device__ inline void wgmma_mma_async_int8(WgmmaInt8Accumulators& d, std::uint64_t a,
                                            std::uint64_t b, bool scale_d) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0; "
               "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8"
               " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
               "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
               "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
               "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
               "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
               "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
               "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127},"
               " %128, %129, p; }"
               : RIDGEBENCH_32_REGISTERS(0), RIDGEBENCH_32_REGISTERS(32),
                 RIDGEBENCH_32_REGISTERS(64), RIDGEBENCH_32_REGISTERS(96)
               : "l"(a), "l"(b), "r"(static_cast<int>(scale_d)));
}
// clang-format on

#undef RIDGEBENCH_32_REGISTERS
#undef RIDGEBENCH_8_REGISTERS

}  // namespace ridgebench::cuda
