// Vectors of 16 bytes: one thread loads or stores such a vector with one instruction, the widest
// that exists before compute capability 10.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "kernels/common/cuda/types.cuh"
#include "kernels/common/error.hpp"

namespace ridgebench::cuda {

inline constexpr int kVectorBytes = 16;

template <class T>
inline constexpr int kVectorElements = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
struct alignas(kVectorBytes) Vec16 {
  Pair<T> pair[kVectorElements<T> / 2];
};

// `index` counts vectors; the pointer must be aligned to 16 bytes.
template <class T>
__device__ Vec16<T> load_vector(const T* x, std::int64_t index) {
  const uint4 words = reinterpret_cast<const uint4*>(x)[index];
  Vec16<T> vector;
  memcpy(&vector, &words, sizeof vector);
  return vector;
}

template <class T>
__device__ void store_vector(T* y, std::int64_t index, const Vec16<T>& vector) {
  uint4 words;
  memcpy(&words, &vector, sizeof words);
  reinterpret_cast<uint4*>(y)[index] = words;
}

// Pair `i` of a vector, widened to fp32. The compiler extracts two bytes from a word in one step
// only where the source writes them as a part of that word.
template <class T>
__device__ float2 to_float2(const Vec16<T>& vector, int i) {
  if constexpr (kIsFp8<T>) {
    std::uint32_t words[kVectorBytes / 4];
    memcpy(words, &vector, sizeof words);
    const std::uint32_t word = words[i / 2] >> (i % 2 == 0 ? 0U : 16U);
    return widen<T>(static_cast<PairWord<T>>(word));
  } else {
    return to_float2(vector.pair[i]);
  }
}

// Throws Unsupported for a pointer that is not aligned to 16 bytes.
inline void require_aligned(const void* operand) {
  if (reinterpret_cast<std::uintptr_t>(operand) % kVectorBytes != 0) {
    throw Unsupported("an operand is not aligned to 16 bytes");
  }
}

}  // namespace ridgebench::cuda
