// Sixteen bytes of a format: what one thread loads or stores with one instruction, the widest there
// is before compute capability 10.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "kernels/common/cuda/types.cuh"
#include "kernels/common/error.hpp"

namespace ridgebench::cuda {

inline constexpr int kPackBytes = 16;

template <class T>
inline constexpr int kPackElements = kPackBytes / static_cast<int>(sizeof(T));

template <class T>
struct alignas(kPackBytes) Pack {
  Pair<T> pair[kPackElements<T> / 2];
};

// `index` counts packs; the pointer must be aligned to 16 bytes.
template <class T>
__device__ Pack<T> load_pack(const T* x, std::int64_t index) {
  const uint4 words = reinterpret_cast<const uint4*>(x)[index];
  Pack<T> pack;
  memcpy(&pack, &words, sizeof pack);
  return pack;
}

template <class T>
__device__ void store_pack(T* y, std::int64_t index, const Pack<T>& pack) {
  uint4 words;
  memcpy(&words, &pack, sizeof words);
  reinterpret_cast<uint4*>(y)[index] = words;
}

// Pair `i` of a pack, widened. The compiler takes two bytes out of a word in one step only where
// they are written as a part of the word.
template <class T>
__device__ float2 to_float2(const Pack<T>& pack, int i) {
  if constexpr (kIsFp8<T>) {
    std::uint32_t words[kPackBytes / 4];
    memcpy(words, &pack, sizeof words);
    const std::uint32_t word = words[i / 2] >> (i % 2 == 0 ? 0U : 16U);
    return widen<T>(static_cast<PairWord<T>>(word));
  } else {
    return to_float2(pack.pair[i]);
  }
}

// Throws Unsupported for a pointer that packs cannot start at.
inline void require_packs(const void* operand) {
  if (reinterpret_cast<std::uintptr_t>(operand) % kPackBytes != 0) {
    throw Unsupported("an operand is not aligned to 16 bytes");
  }
}

}  // namespace ridgebench::cuda
