// A k-tile of an operand, eight elements along k of each of 128 rows, on its way from global memory
// through registers into shared memory, where every format is fp32. Fetching and storing are two
// calls, so that a kernel can multiply while the loads are in flight. For blocks of 128 threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/cuda/types.cuh"
#include "kernels/matmul/tile/operands.cuh"

namespace ridgebench::cuda {

inline constexpr int kTileRows = 128;
inline constexpr int kTileK = 8;  // also the contiguous elements that one thread fetches

// In shared memory: for each k the elements of all rows.
using KTile = float[kTileK][kTileRows];

// An element of fp8. The kernel gets the format when it runs, so that one kernel serves all pairs
// of formats: it converts eight elements for each 1,024 multiply-adds.
struct AnyFp8 {
  std::uint8_t bits;
};
template <class T>
using KTileElement = std::conditional_t<kIsFp8<T>, AnyFp8, T>;

// Converts elements as KTileElement holds them to fp32.
template <class T>
struct Widen {
  __device__ float operator()(T x) const { return to_float(x); }
};
template <>
struct Widen<AnyFp8> {
  __nv_fp8_interpretation_t format;
  __device__ float operator()(AnyFp8 x) const {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(x.bits, format)));
  }
};
template <class T>
Widen<KTileElement<T>> widen_from() {
  if constexpr (kIsFp8<T>) {
    return {kFp8Kind<T>};
  } else {
    return {};
  }
}

// Data that one thread carries: kTileK elements that are contiguous in memory.
template <class T>
struct Fragment {
  T element[kTileK];
};

// Where this thread's fragment starts within the k-tile.
struct ThreadPlace {
  int row, k;
};
template <bool kKMajor>
__device__ ThreadPlace thread_place() {
  const int thread = static_cast<int>(threadIdx.x);
  if (kKMajor) return {thread, 0};
  return {thread % (kTileRows / kTileK) * kTileK, thread / (kTileRows / kTileK)};
}

// This thread's fragment of the k-tile at (first_row, first_k), zeros beyond the operand's edges. A
// fragment of an aligned operand is inside or outside as a whole.
template <bool kKMajor, class T>
__device__ Fragment<T> fetch(const MatrixOperand<T>& x, std::int64_t first_row,
                             std::int64_t first_k, bool aligned) {
  const std::int64_t row = first_row + thread_place<kKMajor>().row;
  const std::int64_t k = first_k + thread_place<kKMajor>().k;
  Fragment<T> fragment{};
  if (row >= x.mn || k >= x.k) return fragment;
  const T* const start = &x.data[row * x.stride_mn + k * x.stride_k];
  if (aligned) {
    using Word = std::conditional_t<sizeof fragment == 8, uint2, uint4>;
    constexpr int words = sizeof fragment / sizeof(Word);
    Word copy[words];
#pragma unroll
    for (int i = 0; i < words; ++i) copy[i] = reinterpret_cast<const Word*>(start)[i];
    memcpy(&fragment, copy, sizeof fragment);
  } else {
    const std::int64_t inside = kKMajor ? x.k - k : x.mn - row;
#pragma unroll
    for (int e = 0; e < kTileK; ++e) {
      if (e < inside) fragment.element[e] = start[e];
    }
  }
  return fragment;
}

template <bool kKMajor, class T>
__device__ void store(KTile& tile, const Fragment<T>& fragment, Widen<T> widen) {
  const ThreadPlace at = thread_place<kKMajor>();
#pragma unroll
  for (int e = 0; e < kTileK; ++e) {
    tile[at.k + (kKMajor ? e : 0)][at.row + (kKMajor ? 0 : e)] = widen(fragment.element[e]);
  }
}

}  // namespace ridgebench::cuda
