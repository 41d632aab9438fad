// How a kernel takes numbers out of a copy that it can reach: transfer.hpp.
#pragma once

#include "kernels/common/cuda/launch.cuh"
#include "kernels/transfer/transfer.hpp"

namespace ridgebench::cuda {

inline std::size_t bytes_of(const Shape& shape) {
  return static_cast<std::size_t>(shape["n"]) * sizeof(float);
}

// Moves numbers of a copy into `taken` and leaves NaN in their places.
template <int kThreads>
__global__ void copy_take(float* copy, std::int64_t n, float* taken) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= taken_of(n)) return;
  taken[i] = copy[taken_at(i, n)];
  copy[taken_at(i, n)] = __int_as_float(-1);
}

inline void take(float* copy, std::int64_t n, float* taken, cudaStream_t stream) {
  constexpr int threads = static_cast<int>(kTaken);
  copy_take<threads><<<1, threads, 0, stream>>>(copy, n, taken);
}

}  // namespace ridgebench::cuda
