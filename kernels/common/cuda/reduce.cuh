// Sums over a float4, a warp and a block, in a fixed order, so the bits are the same every time.
#pragma once

#include <cuda_runtime.h>

#include "kernels/common/cuda/launch.cuh"

namespace ridgebench::cuda {

__device__ inline float sum_of(float4 x) { return (x.x + x.y) + (x.z + x.w); }

// The sum in every lane.
__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  return x;
}

// Returns the sum to thread 0 of a block of kThreads threads, all of which must call it; other
// threads get an undefined value. A __syncthreads() must separate two calls.
template <int kThreads>
__device__ float block_sum(float x) {
  static_assert(kThreads % kWarp == 0 && kThreads <= kWarp * kWarp);
  constexpr int warps = kThreads / kWarp;
  __shared__ float partial[warps];
  const int thread = static_cast<int>(threadIdx.x);
  const float sum = warp_sum(x);
  if (thread % kWarp == 0) partial[thread / kWarp] = sum;
  __syncthreads();
  if (thread >= kWarp) return 0;
  return warp_sum(thread < warps ? partial[thread] : 0.0F);
}

}  // namespace ridgebench::cuda
