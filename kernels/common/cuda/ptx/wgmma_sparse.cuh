// wgmma.mma_async.sp: wgmma (wgmma.cuh) whose A is sparse (sparse.hpp): D = A B + D with A stored
// as 64 x 32 bytes and B of 64 bytes x 256, both in shared memory, K-major. Source: PTX ISA,
// "wgmma.mma_async.sp". Compute capability 9.0 only.
#pragma once

#include "kernels/common/cuda/ptx/sparse.hpp"
#include "kernels/common/cuda/ptx/wgmma.cuh"

namespace ridgebench::cuda {

// It came with PTX ISA 8.2, which the toolkit 12.2 has.
inline constexpr bool kWgmmaServesSparse = CUDART_VERSION >= 12020;

// clang-format off
#define RIDGEBENCH_8_REGISTERS(i)                                                                 \
  "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3]),                                \
  "+f"(d[(i) + 4]), "+f"(d[(i) + 5]), "+f"(d[(i) + 6]), "+f"(d[(i) + 7])
#define RIDGEBENCH_32_REGISTERS(i)                                                                \
  RIDGEBENCH_8_REGISTERS(i), RIDGEBENCH_8_REGISTERS((i) + 8), RIDGEBENCH_8_REGISTERS((i) + 16),    \
  RIDGEBENCH_8_REGISTERS((i) + 24)
#define RIDGEBENCH_WGMMA_SPARSE(types, transposes)                                                \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %131, 0; "                                         \
               "wgmma.mma_async.sp.sync.aligned.m64n256" types                                    \
               " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                         \
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"                 \
               "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                 \
               "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"                 \
               "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"                 \
               "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"                 \
               "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"     \
               "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}," \
               " %128, %129, %130, 0, p, 1, 1" transposes "; }"                                    \
               : RIDGEBENCH_32_REGISTERS(0), RIDGEBENCH_32_REGISTERS(32),                          \
                 RIDGEBENCH_32_REGISTERS(64), RIDGEBENCH_32_REGISTERS(96)                          \
               : "l"(a), "l"(b), "r"(kSparseMetadata), "r"(static_cast<int>(scale_d)))
// clang-format on

// Starts D = A B + D, or without `scale_d` D = A B. `a` and `b` are matrix descriptors. The whole
// warpgroup must call it.
template <class T>
__device__ void wgmma_mma_async_sparse(WgmmaAccumulators<256>& d, std::uint64_t a, std::uint64_t b,
                                       bool scale_d) {
#if CUDART_VERSION < 12020
  __trap();
#else
  if constexpr (std::is_same_v<T, Bf16>) {
    RIDGEBENCH_WGMMA_SPARSE("k32.f32.bf16.bf16", ", 0, 0");
  } else if constexpr (std::is_same_v<T, Fp16>) {
    RIDGEBENCH_WGMMA_SPARSE("k32.f32.f16.f16", ", 0, 0");
  } else if constexpr (std::is_same_v<T, Fp8E4m3>) {
    RIDGEBENCH_WGMMA_SPARSE("k64.f32.e4m3.e4m3", "");
  } else {
    static_assert(std::is_same_v<T, Fp8E5m2>);
    RIDGEBENCH_WGMMA_SPARSE("k64.f32.e5m2.e5m2", "");
  }
#endif
}

#undef RIDGEBENCH_WGMMA_SPARSE
#undef RIDGEBENCH_32_REGISTERS
#undef RIDGEBENCH_8_REGISTERS

}  // namespace ridgebench::cuda
