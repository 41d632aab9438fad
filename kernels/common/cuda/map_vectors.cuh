// What kernels share that apply a function to every element: each thread loads all its vectors of
// 16 bytes before it stores the first, so that as many loads are in flight. bytes_in_flight.hpp
// chooses how many, from what this file reads of the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/cuda/bytes_in_flight.hpp"
#include "kernels/common/cuda/launch.cuh"
#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

// Of the current device. The memory's rate is two transfers per clock and pin; a driver that does
// not say the clock or the width gives 0.
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

// Threads that an SM of the device that is compiled for holds. Kernels state in their launch bounds
// how many of them are resident, so that the compiler leaves them registers.
#if defined(__CUDA_ARCH__)
inline constexpr int kThreadsPerSm = threads_per_sm(__CUDA_ARCH__ / 10);
#else
inline constexpr int kThreadsPerSm = threads_per_sm(0);
#endif

// Technique::prepare of kernels whose blocks have at most kMost threads.
template <int kMost>
VectorChoice prepare_vectors(Queue& /*queue*/, const Shape& /*shape*/) {
  return choose_vectors(memory_system(), kMost);
}

// Blocks of a kernel with kThreads threads of kVectors vectors each, for n elements of T.
template <class T, int kVectors, int kThreads>
unsigned blocks_of_vectors(std::int64_t n) {
  return blocks_for(n, std::int64_t{kThreads} * kVectors * kVectorElements<T>);
}

// y = f(x), for vectors and for the elements after the last one, which the first block handles. A
// thread's vectors lie kThreads apart, and those of a block side by side.
template <int kVectors, int kThreads, class T, class F>
__device__ void map_vectors(const T* x, T* y, std::int64_t n, const F& f) {
  const std::int64_t vectors = n / kVectorElements<T>;
  const std::int64_t first = std::int64_t{blockIdx.x} * (kThreads * kVectors) + threadIdx.x;
  if (first + (kVectors - 1) * kThreads < vectors) {
    uint4 loaded[kVectors];  // not Vec16: each pair would take a register of its own
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      loaded[k] = reinterpret_cast<const uint4*>(x)[first + k * kThreads];
    }
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      store_vector(y, first + k * kThreads, f(load_vector(reinterpret_cast<const T*>(loaded), k)));
    }
  } else {  // at the end
#pragma unroll 1
    for (std::int64_t i = first; i < vectors; i += kThreads) {
      store_vector(y, i, f(load_vector(x, i)));
    }
  }
  const std::int64_t behind = vectors * kVectorElements<T> + first;
  if (behind < n) y[behind] = f(x[behind]);
}

}  // namespace ridgebench::cuda
