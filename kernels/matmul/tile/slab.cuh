// A slab of an operand, eight numbers of each of 128 vectors, on its way from global memory through
// registers into shared memory, where every format is fp32. Fetching and storing are apart, so that
// a kernel can multiply while the loads are under way. For blocks of 128 threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/cuda/types.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

inline constexpr int kSlabVectors = 128;
inline constexpr int kRun = 8;  // numbers of a vector per slab, and neighbours one thread fetches

// A slab as it lies in shared memory: side by side the numbers of all vectors for one p.
using Slab = float[kRun][kSlabVectors];

// What one thread carries.
template <class T>
struct Run {
  T number[kRun];
};

// Where this thread's run starts within a slab.
struct Place {
  int vector, p;
};
template <bool kKMajor>
__device__ Place place() {
  const int thread = static_cast<int>(threadIdx.x);
  if (kKMajor) return {thread, 0};
  return {thread % (kSlabVectors / kRun) * kRun, thread / (kSlabVectors / kRun)};
}

// This thread's run of the slab at vector `first` and number p0, zeros beyond the operand's edges.
// Aligned runs are inside or outside as a whole.
template <bool kKMajor, class T>
__device__ Run<T> fetch(const MatrixOperand<T>& x, std::int64_t first, std::int64_t p0,
                        bool aligned) {
  const std::int64_t vector = first + place<kKMajor>().vector;
  const std::int64_t p = p0 + place<kKMajor>().p;
  Run<T> run{};
  if (vector >= x.mn || p >= x.k) return run;
  const T* const start = &x.data[vector * x.stride_mn + p * x.stride_k];
  if (aligned) {
    using Word = std::conditional_t<sizeof run == 8, uint2, uint4>;
    constexpr int words = sizeof run / sizeof(Word);
    Word copy[words];
#pragma unroll
    for (int i = 0; i < words; ++i) copy[i] = reinterpret_cast<const Word*>(start)[i];
    memcpy(&run, copy, sizeof run);
  } else {
    const std::int64_t inside = kKMajor ? x.k - p : x.mn - vector;
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      if (e < inside) run.number[e] = start[e];
    }
  }
  return run;
}

template <bool kKMajor, class T>
__device__ void store(Slab& slab, const Run<T>& run) {
  const Place at = place<kKMajor>();
#pragma unroll
  for (int e = 0; e < kRun; ++e) {
    slab[at.p + (kKMajor ? e : 0)][at.vector + (kKMajor ? 0 : e)] = to_float(run.number[e]);
  }
}

}  // namespace ridgebench::cuda
