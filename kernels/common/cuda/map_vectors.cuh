// Shared by kernels that apply a function to every element: one thread per vector of 16 bytes, and
// what block_threads.hpp needs to know of the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/block_threads.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

// The memory system of the current device. Its rate is two transfers per clock and pin; a driver
// that does not say the clock or the width gives 0.
inline MemorySystem memory_system() {
  int device = 0;
  check(cudaGetDevice(&device));
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  const double clock_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate);
  return {.bytes_per_s = 2 * clock_hz * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8,
          .units = attribute(cudaDevAttrMultiProcessorCount),
          .threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor)};
}

// Technique::prepare of kernels whose blocks have at most kMost threads.
template <int kMost>
BlockThreads prepare_threads(Queue& /*queue*/, const Shape& /*shape*/) {
  return choose_threads(memory_system(), kMost);
}

// Blocks of a kernel with kThreads threads of one vector each, for n elements of T.
template <class T, int kThreads>
unsigned blocks_of_vectors(std::int64_t n) {
  return blocks_for(n, std::int64_t{kThreads} * kVectorElements<T>);
}

// y = f(x), for vectors and for the elements after the last one, which the first block handles.
template <int kThreads, class T, class F>
__device__ void map_vectors(const T* x, T* y, std::int64_t n, const F& f) {
  const std::int64_t vectors = n / kVectorElements<T>;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < vectors) store_vector(y, i, f(load_vector(x, i)));
  const std::int64_t behind = vectors * kVectorElements<T> + i;
  if (behind < n) y[behind] = f(x[behind]);
}

}  // namespace ridgebench::cuda
