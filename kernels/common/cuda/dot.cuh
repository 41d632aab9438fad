// One thread's share of dot products in fp32: what dot and matvec do with every vector they read.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/fp8_pairs.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

// Vectors that a thread loads before it uses the first: 1024 threads on a multiprocessor keep 64
// KiB in flight, which covers the latency of HBM3e (48 KiB according to CUB's tuning for the H200,
// cub/device/dispatch/tuning/tuning_transform.cuh).
inline constexpr int kVectorsInFlight = 4;

// Pair `i` of a vector, widened to fp32.
template <class T>
__device__ float2 widened(const Vec16<T>& vector, int i) {
  if constexpr (kIsFp8<T>) {
    std::uint32_t words[kVectorBytes / 4];
    memcpy(words, &vector, sizeof words);
    const std::uint32_t word = words[i / 2];
    return __half22float2(i % 2 == 0 ? to_half2<T, false>(word) : to_half2<T, true>(word));
  } else {
    return to_float2(vector, i);
  }
}

// Adds to sum[r] the products of a[r] with x, element by element. They are formed in fp32, because
// those of fp8 could leave fp16's range.
template <class T, int kRows>
__device__ void add_products(const Vec16<T> (&a)[kRows], const Vec16<T>& x, float (&sum)[kRows]) {
#pragma unroll
  for (int i = 0; i < kVectorElements<T> / 2; ++i) {
    const float2 right = widened(x, i);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float2 left = widened(a[r], i);
      sum[r] = fmaf(left.x, right.x, sum[r]);
      sum[r] = fmaf(left.y, right.y, sum[r]);
    }
  }
}

// Adds to sum[r] this thread's share of the dot product of row a[r] with x, n elements each. `step`
// threads divide a row, and this is thread `first` of them: it takes vectors first, first + step,
// ... of the first `vectors` vectors, and in the same way the elements after them.
template <class T, int kRows>
__device__ void add_dot_share(const T* const (&a)[kRows], const T* x, std::int64_t n,
                              std::int64_t vectors, std::int64_t first, std::int64_t step,
                              float (&sum)[kRows]) {
  constexpr int kDeep = kVectorsInFlight / kRows;  // vectors of each row at once
  float part[kDeep][kRows] = {};                   // independent running sums
  std::int64_t i = first;
#pragma unroll 1
  for (; i + (kDeep - 1) * step < vectors; i += kDeep * step) {
    Vec16<T> from_x[kDeep];
    Vec16<T> from_a[kDeep][kRows];
#pragma unroll
    for (int k = 0; k < kDeep; ++k) {
      from_x[k] = load_vector(x, i + k * step);
#pragma unroll
      for (int r = 0; r < kRows; ++r) from_a[k][r] = load_vector(a[r], i + k * step);
    }
#pragma unroll
    for (int k = 0; k < kDeep; ++k) add_products(from_a[k], from_x[k], part[k]);
  }
#pragma unroll 1
  for (; kDeep > 1 && i < vectors; i += step) {
    Vec16<T> from_a[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) from_a[r] = load_vector(a[r], i);
    add_products(from_a, load_vector(x, i), part[0]);
  }
#pragma unroll kDeep
  for (i = vectors * kVectorElements<T> + first; i < n; i += step) {
    const float right = to_float(x[i]);
#pragma unroll
    for (int r = 0; r < kRows; ++r) part[0][r] = fmaf(to_float(a[r][i]), right, part[0][r]);
  }
#pragma unroll
  for (int k = 0; k < kDeep; ++k) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) sum[r] += part[k][r];
  }
}

// The same for one row that the whole grid, or one block, divides.
template <class T>
__device__ float dot_share(const T* a, const T* x, std::int64_t n, std::int64_t vectors,
                           std::int64_t first, std::int64_t step) {
  const T* const row[1] = {a};
  float sum[1] = {};
  add_dot_share(row, x, n, vectors, first, step, sum);
  return sum[0];
}

}  // namespace ridgebench::cuda
