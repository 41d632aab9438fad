// Sums and maxima over a float4, a warp and a block, in a fixed order, so the bits are the same
// every time.
#pragma once

#include <cuda_runtime.h>

#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda {

__device__ inline float sum_of(float4 x) { return (x.x + x.y) + (x.z + x.w); }

struct Sum {
  template <class T>
  __device__ T operator()(T x, T y) const {
    return x + y;
  }
};

// The larger of two numbers. NaN counts as the smallest.
struct Max {
  __device__ float operator()(float x, float y) const { return fmaxf(x, y); }
};

// The result of a commutative operation over a warp, in every lane.
template <class T, class Combine>
__device__ T warp_all(T x, const Combine& combine) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    x = combine(x, __shfl_xor_sync(0xffffffffU, x, step));
  }
  return x;
}

// The sum in every lane.
template <class T>
__device__ T warp_sum(T x) {
  return warp_all(x, Sum{});
}

// The result of a commutative operation over a block of kThreads threads, all of which must call
// it, in every thread.
template <int kThreads, class Combine>
__device__ float block_all(float x, const Combine& combine) {
  static_assert(kThreads % kWarp == 0);
  x = warp_all(x, combine);
  if constexpr (kThreads > kWarp) {
    constexpr int warps = kThreads / kWarp;
    __shared__ float partial[warps];
    if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = x;
    __syncthreads();
    x = partial[0];
#pragma unroll
    for (int i = 1; i < warps; ++i) x = combine(x, partial[i]);
    __syncthreads();  // before the next call writes
  }
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
