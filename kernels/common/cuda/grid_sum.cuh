// The second kernel of a sum over a whole grid: one block adds the partial sums of the blocks.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/queue.hpp"

namespace ridgebench::cuda {

inline constexpr int kGridSumThreads = 1024;

// Adds in double and in a fixed order, so the bits are the same every time. Launch as one block of
// kThreads threads.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    add_partial_sums(const float* partial, unsigned count, float* sum) {
  static_assert((kThreads & (kThreads - 1)) == 0);
  __shared__ double share[kThreads];
  const unsigned thread = threadIdx.x;
  double own = 0;
  const unsigned fours = count / 4;
#pragma unroll 8
  for (unsigned i = thread; i < fours; i += kThreads) {
    const float4 four = reinterpret_cast<const float4*>(partial)[i];
    own += (static_cast<double>(four.x) + four.y) + (static_cast<double>(four.z) + four.w);
  }
  if (thread < count % 4) own += partial[4 * fours + thread];
  share[thread] = own;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) share[thread] += share[thread + half];
  }
  if (thread == 0) *sum = static_cast<float>(share[0]);
}

// Device memory for one float per block.
inline std::shared_ptr<float> allocate_partial_sums(Queue& queue, unsigned blocks) {
  return std::static_pointer_cast<float>(queue.allocate(blocks * sizeof(float)));
}

}  // namespace ridgebench::cuda
