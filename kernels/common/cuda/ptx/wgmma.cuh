// wgmma.mma_async: a warpgroup computes D = A B + D with A of 64 x 32 bytes and B of 32 bytes x N,
// both in shared memory or A in registers, and D of 64 x N in fp32 in registers (wgmma_layout.hpp),
// asynchronously.
// Source: PTX ISA, "Asynchronous warpgroup level matrix instructions". Compute capability 9.0 only.
//
// Between warpgroup_arrive() and the end of warpgroup_wait() no other instruction may touch the
// accumulators or write A's registers. Where the compiler sees that this cannot hold, it serialises
// the instructions, and ptxas reports that (C75xx).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/common/cuda/ptx/wgmma_layout.hpp"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

template <int kN>
using WgmmaAccumulators = float[kN / 2];

// Called before the first wgmma of a group: orders earlier accesses to the accumulators before it.
__device__ inline void warpgroup_arrive() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Closes the group of the wgmmas that were started since the last call.
__device__ inline void warpgroup_commit_batch() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most the kPending newest groups are in flight.
template <int kPending>
__device__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the compiler from moving accesses to the accumulators across this point.
template <int kCount>
__device__ void warpgroup_fence_operand(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// The same for sums in int32 (wgmma_int8.cuh).
template <int kCount>
__device__ void warpgroup_fence_operand(std::int32_t (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

// A warp's 16 rows of A and 32 bytes of k. Word i of lane l holds 4 bytes of row l / 4 + 8 (i % 2)
// from byte 4 (l % 4) + 16 (i / 2) on, which is what ldmatrix_x4 reads.
using WgmmaFragmentA = std::uint32_t[4];

// The same for A in registers.
__device__ inline void warpgroup_fence_operand(WgmmaFragmentA& a) {
#pragma unroll
  for (std::uint32_t& word : a) asm volatile("" : "+r"(word)::"memory");
}

// The instruction names each of its up to 128 registers. These macros write them, each list from
// the one before it.
// clang-format off
#define RIDGEBENCH_REGISTERS_4 "%0,%1,%2,%3"
#define RIDGEBENCH_REGISTERS_8 RIDGEBENCH_REGISTERS_4 ",%4,%5,%6,%7"
#define RIDGEBENCH_REGISTERS_16 RIDGEBENCH_REGISTERS_8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define RIDGEBENCH_REGISTERS_32 RIDGEBENCH_REGISTERS_16 \
  ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define RIDGEBENCH_REGISTERS_48 RIDGEBENCH_REGISTERS_32 \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define RIDGEBENCH_REGISTERS_56 RIDGEBENCH_REGISTERS_48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define RIDGEBENCH_REGISTERS_64 RIDGEBENCH_REGISTERS_48 \
  ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define RIDGEBENCH_REGISTERS_72 RIDGEBENCH_REGISTERS_64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define RIDGEBENCH_REGISTERS_80 RIDGEBENCH_REGISTERS_64 \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define RIDGEBENCH_REGISTERS_88 RIDGEBENCH_REGISTERS_80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define RIDGEBENCH_REGISTERS_96 RIDGEBENCH_REGISTERS_80 \
  ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define RIDGEBENCH_REGISTERS_100 RIDGEBENCH_REGISTERS_96 ",%96,%97,%98,%99"
#define RIDGEBENCH_REGISTERS_112 RIDGEBENCH_REGISTERS_96 \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define RIDGEBENCH_REGISTERS_128 RIDGEBENCH_REGISTERS_112 \
  ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define RIDGEBENCH_D_4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define RIDGEBENCH_D_8(i) RIDGEBENCH_D_4(i), RIDGEBENCH_D_4((i) + 4)
#define RIDGEBENCH_D_16(i) RIDGEBENCH_D_8(i), RIDGEBENCH_D_8((i) + 8)
#define RIDGEBENCH_D_32(i) RIDGEBENCH_D_16(i), RIDGEBENCH_D_16((i) + 16)
#define RIDGEBENCH_D_48(i) RIDGEBENCH_D_32(i), RIDGEBENCH_D_16((i) + 32)
#define RIDGEBENCH_D_56(i) RIDGEBENCH_D_48(i), RIDGEBENCH_D_8((i) + 48)
#define RIDGEBENCH_D_64(i) RIDGEBENCH_D_32(i), RIDGEBENCH_D_32((i) + 32)
#define RIDGEBENCH_D_72(i) RIDGEBENCH_D_64(i), RIDGEBENCH_D_8((i) + 64)
#define RIDGEBENCH_D_80(i) RIDGEBENCH_D_64(i), RIDGEBENCH_D_16((i) + 64)
#define RIDGEBENCH_D_88(i) RIDGEBENCH_D_80(i), RIDGEBENCH_D_8((i) + 80)
#define RIDGEBENCH_D_96(i) RIDGEBENCH_D_64(i), RIDGEBENCH_D_32((i) + 64)
#define RIDGEBENCH_D_100(i) RIDGEBENCH_D_96(i), RIDGEBENCH_D_4((i) + 96)
#define RIDGEBENCH_D_112(i) RIDGEBENCH_D_96(i), RIDGEBENCH_D_16((i) + 96)
#define RIDGEBENCH_D_128(i) RIDGEBENCH_D_64(i), RIDGEBENCH_D_64((i) + 64)

// a_place, b_place and scale_d_place are the operands' numbers after those of D; `transposes` is the
// text of the transpose immediates, for formats that have them.
#define RIDGEBENCH_WGMMA(n, registers, types, a_place, b_place, scale_d_place, transposes)        \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " scale_d_place ", 0; "                            \
               "wgmma.mma_async.sync.aligned.m64n" #n types                                       \
               " {" RIDGEBENCH_REGISTERS_##registers "}, " a_place ", " b_place ", p, 1, 1"       \
               transposes "; }"                                                                   \
               : RIDGEBENCH_D_##registers(0)                                                      \
               : "l"(a), "l"(b), "r"(static_cast<int>(scale_d)), "n"(kTnspA), "n"(kTnspB))

#define RIDGEBENCH_WGMMA_OF_SIZE(n, registers, a_place, b_place, scale_d_place, tnsp_a, tnsp_b)   \
  if constexpr (kN == n) {                                                                        \
    if constexpr (std::is_same_v<A, Bf16>) {                                                      \
      RIDGEBENCH_WGMMA(n, registers, "k16.f32.bf16.bf16", a_place, b_place, scale_d_place,        \
                       ", " tnsp_a ", " tnsp_b);                                                  \
    } else if constexpr (std::is_same_v<A, Fp16>) {                                               \
      RIDGEBENCH_WGMMA(n, registers, "k16.f32.f16.f16", a_place, b_place, scale_d_place,          \
                       ", " tnsp_a ", " tnsp_b);                                                  \
    } else if constexpr (std::is_same_v<A, Tf32>) {                                               \
      RIDGEBENCH_WGMMA(n, registers, "k8.f32.tf32.tf32", a_place, b_place, scale_d_place, "");    \
    } else if constexpr (std::is_same_v<A, Fp8E4m3> && std::is_same_v<B, Fp8E4m3>) {              \
      RIDGEBENCH_WGMMA(n, registers, "k32.f32.e4m3.e4m3", a_place, b_place, scale_d_place, "");   \
    } else if constexpr (std::is_same_v<A, Fp8E4m3>) {                                            \
      RIDGEBENCH_WGMMA(n, registers, "k32.f32.e4m3.e5m2", a_place, b_place, scale_d_place, "");   \
    } else if constexpr (std::is_same_v<B, Fp8E4m3>) {                                            \
      RIDGEBENCH_WGMMA(n, registers, "k32.f32.e5m2.e4m3", a_place, b_place, scale_d_place, "");   \
    } else {                                                                                      \
      RIDGEBENCH_WGMMA(n, registers, "k32.f32.e5m2.e5m2", a_place, b_place, scale_d_place, "");   \
    }                                                                                             \
  }
// clang-format on

// Starts D = A B + D, or without `scale_d` D = A B, for 32 bytes of k. `a` and `b` are matrix
// descriptors; an operand that is MN-major in memory has its kTnsp set. The whole warpgroup must
// call it.
template <class A, class B, int kN, bool kTnspA = false, bool kTnspB = false>
__device__ void wgmma_mma_async(WgmmaAccumulators<kN>& d, std::uint64_t a, std::uint64_t b,
                                bool scale_d) {
  static_assert(std::is_same_v<A, B> || (kIsFp8<A> && kIsFp8<B>));
  static_assert(sizeof(A) == 2 || (!kTnspA && !kTnspB), "only 16-bit formats transpose");
  static_assert(is_wgmma_width(kN));
  RIDGEBENCH_WGMMA_OF_SIZE(8, 4, "%4", "%5", "%6", "%7", "%8")
  RIDGEBENCH_WGMMA_OF_SIZE(16, 8, "%8", "%9", "%10", "%11", "%12")
  RIDGEBENCH_WGMMA_OF_SIZE(32, 16, "%16", "%17", "%18", "%19", "%20")
  RIDGEBENCH_WGMMA_OF_SIZE(64, 32, "%32", "%33", "%34", "%35", "%36")
  RIDGEBENCH_WGMMA_OF_SIZE(96, 48, "%48", "%49", "%50", "%51", "%52")
  RIDGEBENCH_WGMMA_OF_SIZE(112, 56, "%56", "%57", "%58", "%59", "%60")
  RIDGEBENCH_WGMMA_OF_SIZE(128, 64, "%64", "%65", "%66", "%67", "%68")
  RIDGEBENCH_WGMMA_OF_SIZE(144, 72, "%72", "%73", "%74", "%75", "%76")
  RIDGEBENCH_WGMMA_OF_SIZE(160, 80, "%80", "%81", "%82", "%83", "%84")
  RIDGEBENCH_WGMMA_OF_SIZE(176, 88, "%88", "%89", "%90", "%91", "%92")
  RIDGEBENCH_WGMMA_OF_SIZE(192, 96, "%96", "%97", "%98", "%99", "%100")
  RIDGEBENCH_WGMMA_OF_SIZE(200, 100, "%100", "%101", "%102", "%103", "%104")
  RIDGEBENCH_WGMMA_OF_SIZE(224, 112, "%112", "%113", "%114", "%115", "%116")
  RIDGEBENCH_WGMMA_OF_SIZE(256, 128, "%128", "%129", "%130", "%131", "%132")
}

// clang-format off
#define RIDGEBENCH_WGMMA_RS(n, registers, types, a_place, b_place, scale_d_place, transpose)      \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " scale_d_place ", 0; "                            \
               "wgmma.mma_async.sync.aligned.m64n" #n types                                       \
               " {" RIDGEBENCH_REGISTERS_##registers "}, {" a_place "}, " b_place ", p, 1, 1"     \
               transpose "; }"                                                                    \
               : RIDGEBENCH_D_##registers(0)                                                      \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                              \
                 "r"(static_cast<int>(scale_d)))

#define RIDGEBENCH_WGMMA_RS_OF_SIZE(n, registers, a_place, b_place, scale_d_place)                \
  if constexpr (kN == n) {                                                                        \
    if constexpr (std::is_same_v<T, Tf32>) {                                                      \
      RIDGEBENCH_WGMMA_RS(n, registers, "k8.f32.tf32.tf32", a_place, b_place, scale_d_place, ""); \
    } else if constexpr (std::is_same_v<T, Bf16>) {                                               \
      RIDGEBENCH_WGMMA_RS(n, registers, "k16.f32.bf16.bf16", a_place, b_place, scale_d_place,     \
                          ", 0");                                                                 \
    } else {                                                                                      \
      RIDGEBENCH_WGMMA_RS(n, registers, "k32.f32.e4m3.e4m3", a_place, b_place, scale_d_place,     \
                          "");                                                                    \
    }                                                                                             \
  }
// clang-format on

// The same with A in registers (CUTLASS: the RS form).
template <class T, int kN>
__device__ void wgmma_mma_async_rs(WgmmaAccumulators<kN>& d, const WgmmaFragmentA& a,
                                   std::uint64_t b, bool scale_d) {
  static_assert(std::is_same_v<T, Tf32> || std::is_same_v<T, Bf16> || std::is_same_v<T, Fp8E4m3>);
  static_assert(kN == 8 || kN == 16 || kN == 32 || kN == 64 || kN == 96 || kN == 128 || kN == 192 ||
                kN == 256);
  RIDGEBENCH_WGMMA_RS_OF_SIZE(8, 4, "%4,%5,%6,%7", "%8", "%9")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(16, 8, "%8,%9,%10,%11", "%12", "%13")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(32, 16, "%16,%17,%18,%19", "%20", "%21")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(64, 32, "%32,%33,%34,%35", "%36", "%37")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(96, 48, "%48,%49,%50,%51", "%52", "%53")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(128, 64, "%64,%65,%66,%67", "%68", "%69")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(192, 96, "%96,%97,%98,%99", "%100", "%101")
  RIDGEBENCH_WGMMA_RS_OF_SIZE(256, 128, "%128,%129,%130,%131", "%132", "%133")
}

#undef RIDGEBENCH_WGMMA_RS_OF_SIZE
#undef RIDGEBENCH_WGMMA_RS
#undef RIDGEBENCH_WGMMA_OF_SIZE
#undef RIDGEBENCH_WGMMA
#undef RIDGEBENCH_D_128
#undef RIDGEBENCH_D_112
#undef RIDGEBENCH_D_100
#undef RIDGEBENCH_D_96
#undef RIDGEBENCH_D_88
#undef RIDGEBENCH_D_80
#undef RIDGEBENCH_D_72
#undef RIDGEBENCH_D_64
#undef RIDGEBENCH_D_56
#undef RIDGEBENCH_D_48
#undef RIDGEBENCH_D_32
#undef RIDGEBENCH_D_16
#undef RIDGEBENCH_D_8
#undef RIDGEBENCH_D_4
#undef RIDGEBENCH_REGISTERS_128
#undef RIDGEBENCH_REGISTERS_112
#undef RIDGEBENCH_REGISTERS_100
#undef RIDGEBENCH_REGISTERS_96
#undef RIDGEBENCH_REGISTERS_88
#undef RIDGEBENCH_REGISTERS_80
#undef RIDGEBENCH_REGISTERS_72
#undef RIDGEBENCH_REGISTERS_64
#undef RIDGEBENCH_REGISTERS_56
#undef RIDGEBENCH_REGISTERS_48
#undef RIDGEBENCH_REGISTERS_32
#undef RIDGEBENCH_REGISTERS_16
#undef RIDGEBENCH_REGISTERS_8
#undef RIDGEBENCH_REGISTERS_4

}  // namespace ridgebench::cuda
