// mma.sync: a warp computes D = A B + D with A of 16 x kK, B of kK x 8 and D of 16 x 8 in fp32, all
// in registers. Source: PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type" and
// its siblings for .m16n8k8 and .m16n8k32.
//
// In 32-bit words along k the fragments are the same in every format: a row of A and a column of B
// are 8 words, and the lowest bits of a word hold the smallest k. With group = lane / 4 and member
// = lane % 4, a lane holds
//   a[r]: row group + 8 (r % 2),      word member + 4 (r / 2),        r < 4
//   b[r]: column group,               word member + 4 r,              r < 2
//   d[r]: row group + 8 (r / 2),      column 2 member + r % 2,        r < 4
// A and B may permute the words of k alike.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "kernels/common/cuda/types.cuh"
#include "kernels/common/machine.hpp"

namespace ridgebench::cuda {

// The form for fp8 came with PTX ISA 8.4, which the toolkit 12.4 has.
inline constexpr bool kMmaServesFp8 = CUDART_VERSION >= 12040;

// Part of Technique::supports: why mma.sync cannot multiply fp8 on the machine.
inline std::optional<std::string> mma_lacks_fp8(const Machine& machine) {
  if (machine.compute_capability < 89) return "mma.sync in fp8 needs compute capability 8.9";
  if (!kMmaServesFp8) return "mma.sync in fp8 needs a build with CUDA 12.4";
  return std::nullopt;
}

// Formats of A and B: Tf32, Fp16 or Bf16 for both, or any pair of fp8 formats.
template <class A, class B = A>
struct Mma {
  static_assert(std::is_same_v<A, B> || (kIsFp8<A> && kIsFp8<B>));
  static constexpr int kM = 16;
  static constexpr int kN = 8;
  static constexpr int kWords = 8;  // of one row of A or one column of B
  static constexpr int kPerWord = 4 / static_cast<int>(sizeof(A));
  static constexpr int kK = kWords * kPerWord;

  // d += a b. All lanes of the warp must call it. fp8 needs compute capability 8.9, the others 8.0:
  // compiled for an older device it traps. Compute capabilities 9.0 and 10.x have no native fp8
  // form: ptxas emits conversions to fp16, two fp16 products and additions, and computes a product
  // once where the same operands are multiplied again.
  static __device__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4],
                                      const std::uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    __trap();
#else
    if constexpr (std::is_same_v<A, Tf32>) {
      asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else if constexpr (std::is_same_v<A, Fp16>) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else if constexpr (std::is_same_v<A, Bf16>) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#if __CUDA_ARCH__ >= 890 && CUDART_VERSION >= 12040
    } else if constexpr (std::is_same_v<A, Fp8E4m3> && std::is_same_v<B, Fp8E4m3>) {
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else if constexpr (std::is_same_v<A, Fp8E4m3>) {
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else if constexpr (std::is_same_v<B, Fp8E4m3>) {
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
      asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    } else {
      __trap();
#endif
    }
#endif
  }
};

}  // namespace ridgebench::cuda
