// mma.sync in fp64: a warp computes D = A B + D with A of kM x kK, B of kK x 8 and D of kM x 8, all
// in registers. Source: PTX ISA, "Matrix fragments for mma.m8n8k4 with .f64 floating point type"
// and "Matrix fragments for mma.m16n8k16 with floating point type". With group = lane / 4 and
// member = lane % 4, a lane holds
//   a[r]: row group + 8 (r % (kM / 8)),  column member + 4 (r / (kM / 8)),  r < kA
//   b[r]: column group,                  row member + 4 r,                  r < kB
//   d[r]: row group + 8 (r / 2),         column 2 member + r % 2,           r < kD
#pragma once

#include <cuda_runtime.h>

namespace ridgebench::cuda {

// Rows is 8, from compute capability 8.0 on, or 16, from 9.0 on.
template <int Rows>
struct MmaF64 {
  static_assert(Rows == 8 || Rows == 16);
  static constexpr int kM = Rows;
  static constexpr int kN = 8;
  static constexpr int kK = Rows == 8 ? 4 : 16;
  static constexpr int kA = kM * kK / 32;
  static constexpr int kB = kN * kK / 32;
  static constexpr int kD = kM * kN / 32;
  static constexpr int kLeastCapability = Rows == 8 ? 80 : 90;

  // d += a b. All lanes of the warp must call it. Compiled for a device without it, it traps.
  static __device__ void multiply_add(double (&d)[kD], const double (&a)[kA],
                                      const double (&b)[kB]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    __trap();
#else
    if constexpr (Rows == 8) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(d[0]), "+d"(d[1])
          : "d"(a[0]), "d"(b[0]));
    } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
      __trap();
#else
      asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
          : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
            "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
    }
#endif
  }
};

}  // namespace ridgebench::cuda
