// mma.sp: mma.sync (mma.cuh) whose A is sparse (sparse.hpp). A is stored as 16 x 8 words, so that
// its fragment is that of mma.sync; B has 16 words of k to a column. Source: PTX ISA, "Matrix
// fragments for sparse mma.m16n8k32 with .f16 and .bf16 types".
#pragma once

#include "kernels/common/cuda/ptx/mma.cuh"
#include "kernels/common/cuda/ptx/sparse.hpp"

namespace ridgebench::cuda {

// The form whose metadata is in the order of k, and which keeps its rate on later GPUs, came with
// PTX ISA 8.5, which the toolkit 12.5 has.
inline constexpr bool kMmaServesSparse = CUDART_VERSION >= 12050;

// Fp16 or Bf16 for both. (ptxas emulates fp8 on compute capability 9.0, at many spilled registers.)
// With group = lane / 4 and member = lane % 4,
//   b[r]: column group,               word member + 4 r,              r < 4
template <class T>
struct MmaSparse {
  using Dense = Mma<T>;  // of the stored numbers of A
  static constexpr int kK = 2 * Dense::kK;

  // d += a b. All lanes of the warp must call it. It needs compute capability 8.0.
  static __device__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4],
                                      const std::uint32_t (&b)[4]) {
#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800) || CUDART_VERSION < 12050
    __trap();
#else
    if constexpr (std::is_same_v<T, Fp16>) {
      asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
            "r"(kSparseMetadata));
    } else {
      static_assert(std::is_same_v<T, Bf16>);
      asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
            "r"(kSparseMetadata));
    }
#endif
  }
};

}  // namespace ridgebench::cuda
