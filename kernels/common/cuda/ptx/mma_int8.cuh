// mma.sync in int8: a warp computes D = A B + D with A of 16 x 32, B of 32 x 8 and D of 16 x 8 in
// int32, all in registers. A sum that leaves int32 wraps around. Source: PTX ISA, "Matrix fragments
// for mma.m16n8k32". The fragments are those of fp8 (mma.cuh): with group = lane / 4 and
// member = lane % 4, a lane holds
//   a[r]: row group + 8 (r % 2), columns 4 member + 16 (r / 2) and the next three
//   b[r]: column group,          rows 4 member + 16 r and the next three
//   d[r]: row group + 8 (r / 2), column 2 member + r % 2
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ridgebench::cuda {

// d += a b. All lanes of the warp must call it. Compiled for a device without it, it traps.
__device__ inline void mma_int8(std::int32_t (&d)[4], const std::uint32_t (&a)[4],
                                const std::uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();
#else
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

}  // namespace ridgebench::cuda
