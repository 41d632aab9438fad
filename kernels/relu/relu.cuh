// ReLU of a vector of 16 bytes. No format is converted: two halves go through one packed maximum,
// four bytes through integer operations on their word.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

template <class T>
__device__ T relu(T x) {
  return to_float(x) < 0 ? T{} : x;
}

__device__ inline Pair<float> relu(Pair<float> x) { return {relu(x.first), relu(x.second)}; }

// __hmax2 would turn NaN into 0.
__device__ inline Pair<Fp16> relu(Pair<Fp16> x) {
  const __half2 both =
      __halves2half2(__ushort_as_half(x.first.bits), __ushort_as_half(x.second.bits));
  const __half2 max = __hmax2_nan(both, __half2half2(__ushort_as_half(0)));
  return {{__half_as_ushort(__low2half(max))}, {__half_as_ushort(__high2half(max))}};
}

__device__ inline Pair<Bf16> relu(Pair<Bf16> x) {
  const __nv_bfloat162 both =
      __halves2bfloat162(__ushort_as_bfloat16(x.first.bits), __ushort_as_bfloat16(x.second.bits));
  const __nv_bfloat162 max = __hmax2_nan(both, __bfloat162bfloat162(__ushort_as_bfloat16(0)));
  return {{__bfloat16_as_ushort(__low2bfloat16(max))},
          {__bfloat16_as_ushort(__high2bfloat16(max))}};
}

// Four fp8 elements in a word: clears the bytes whose sign is set, unless they are NaN.
template <class T>
__device__ std::uint32_t relu_bytes(std::uint32_t x) {
  constexpr std::uint32_t kEach = 0x01010101U;
  constexpr std::uint32_t kNans = std::is_same_v<T, Fp8E4m3> ? 1 : 3;  // bit patterns of each sign
  // NaNs have the largest magnitudes: only they reach the sign bit when kNans is added.
  const std::uint32_t nan = (x & 0x7fU * kEach) + kNans * kEach;
  const std::uint32_t negative = x & ~nan & 0x80U * kEach;
  return x & ~(negative | (negative - (negative >> 7U)));  // 0x80 | 0x7f: the whole byte
}

template <class T>
__device__ Vec16<T> relu(Vec16<T> vector) {
  if constexpr (kIsFp8<T>) {
    std::uint32_t words[kVectorBytes / 4];
    memcpy(words, &vector, sizeof words);
#pragma unroll
    for (std::uint32_t& word : words) word = relu_bytes<T>(word);
    memcpy(&vector, words, sizeof words);
  } else {
#pragma unroll
    for (Pair<T>& pair : vector.pair) pair = relu(pair);
  }
  return vector;
}

}  // namespace ridgebench::cuda
