// Sums over a float4, a warp and a block, in a fixed order, so the bits are the same every time.
#pragma once

#include <cuda_runtime.h>

#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda {

__device__ inline float sum_of(float4 x) { return (x.x + x.y) + (x.z + x.w); }

// The sum in every lane.
template <class T>
__device__ T warp_sum(T x) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  return x;
}

// Returns sum r, of x[r], to thread r of a block of kThreads threads, all of which must call it;
// other threads get an undefined value. A __syncthreads() must separate two calls.
template <int kThreads, class T, int kSums>
__device__ T block_sums(const T (&x)[kSums]) {
  static_assert(kThreads % kWarp == 0 && kThreads <= kWarp * kWarp && kSums <= kWarp);
  constexpr int warps = kThreads / kWarp;
  __shared__ T partial[kSums][warps];
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int r = 0; r < kSums; ++r) {
    const T sum = warp_sum(x[r]);
    if (thread % kWarp == 0) partial[r][thread / kWarp] = sum;
  }
  __syncthreads();
  T own = 0;
  if (thread >= kWarp) return own;
#pragma unroll
  for (int r = 0; r < kSums; ++r) {
    const T sum = warp_sum(thread < warps ? partial[r][thread] : T{});
    if (thread == r) own = sum;
  }
  return own;
}

// The same for one sum, which thread 0 gets.
template <int kThreads, class T>
__device__ T block_sum(T x) {
  const T one[1] = {x};
  return block_sums<kThreads>(one);
}

}  // namespace ridgebench::cuda
