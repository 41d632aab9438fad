// Pairs of fp8 numbers as two fp16 numbers, which represent each value of either format exactly.
#pragma once

#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/cuda/types.cuh"

namespace ridgebench::cuda {

__device__ inline __half2 half2_of(std::uint32_t word) {
  __half2 x;
  memcpy(static_cast<void*>(&x), &word, sizeof x);
  return x;
}
__device__ inline std::uint32_t word_of(__half2 x) {
  std::uint32_t word;
  memcpy(&word, &x, sizeof word);
  return word;
}

// The two numbers in the low (kHigh = false) or high bytes of a word. fp8_e5m2 has the sign and the
// exponent of fp16, so that a number is the upper byte of its fp16 form: one PRMT moves two of
// them, without the conversion (F2FP) that fp8_e4m3 needs.
template <class T, bool kHigh>
__device__ __half2 to_half2(std::uint32_t word) {
  static_assert(kIsFp8<T>);
  if constexpr (std::is_same_v<T, Fp8E5m2>) {
    const std::uint32_t pair = __byte_perm(word, 0, kHigh ? 0x3424U : 0x1404U);
    return half2_of(pair);
  } else {
    const auto pair = static_cast<PairWord<T>>(word >> (kHigh ? 16U : 0U));
    return __half2(__nv_cvt_fp8x2_to_halfraw2(pair, kFp8Kind<T>));
  }
}

// Rounded and saturated, as conversions from fp32 are.
template <class T>
__device__ PairWord<T> from_half2(__half2 x) {
  return __nv_cvt_halfraw2_to_fp8x2(static_cast<__half2_raw>(x), __NV_SATFINITE, kFp8Kind<T>);
}

// Two pairs as a word. The compiler joins them within the conversion, where a shift and an OR would
// cost five instructions.
template <class T>
__device__ std::uint32_t from_half2(__half2 low, __half2 high) {
  return word_of(
      __halves2half2(__ushort_as_half(from_half2<T>(low)), __ushort_as_half(from_half2<T>(high))));
}

}  // namespace ridgebench::cuda
