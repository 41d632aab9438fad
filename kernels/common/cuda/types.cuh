// Storage types to float and back on the device, one element or two at a time, by the hardware's
// conversions: fp8 saturates, fp16 and bf16 go to infinity, tf32 rounds ties away. Vectors of 16
// bytes: a thread loads or stores one with one instruction, the widest before compute capability
// 10.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/error.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench::cuda {

// The fp8 formats convert through fp16 only, which represents each of their values exactly.
template <class T>
inline constexpr bool kIsFp8 = std::is_same_v<T, Fp8E4m3> || std::is_same_v<T, Fp8E5m2>;

template <class T>
inline constexpr __nv_fp8_interpretation_t kFp8Kind =
    std::is_same_v<T, Fp8E4m3> ? __NV_E4M3 : __NV_E5M2;

template <class T>
__device__ float to_float(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else if constexpr (sizeof(T) == sizeof(float)) {
    return __uint_as_float(x.bits);
  } else if constexpr (std::is_same_v<T, Fp16>) {
    return __half2float(__ushort_as_half(x.bits));
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return __bfloat162float(__ushort_as_bfloat16(x.bits));
  } else if constexpr (std::is_same_v<T, Ue8m0>) {
    return __uint_as_float(float_bits_of_ue8m0(x.bits));
  } else {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(x.bits, kFp8Kind<T>)));
  }
}

// Number `index` of an array, in which the numbers of a pair count each.
template <class T>
__device__ float number_at(const T* x, std::int64_t index) {
  if constexpr (std::is_same_v<T, Fp4Pair>) {
    constexpr FormatInfo kFp4 = info(Format::fp4_e2m1);
    return decode_bits(kFp4, x[index / 2].bits >> (index % 2 * 4) & 0xfU);
  } else {
    return to_float(x[index]);
  }
}

// Two neighbours as the hardware's conversions take them, the first in the low half.
template <class T>
using PairWord = std::conditional_t<kIsFp8<T>, std::uint16_t, std::uint32_t>;

template <class T>
__device__ float2 widen(PairWord<T> x) {
  if constexpr (std::is_same_v<T, Fp16>) {
    return __half22float2(__halves2half2(__ushort_as_half(static_cast<std::uint16_t>(x)),
                                         __ushort_as_half(static_cast<std::uint16_t>(x >> 16U))));
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return make_float2(__uint_as_float(x << 16U), __uint_as_float(x & 0xffff0000U));
  } else {
    static_assert(kIsFp8<T>);
    return __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(x, kFp8Kind<T>)));
  }
}

template <class T>
__device__ PairWord<T> narrow(float2 x) {
  if constexpr (std::is_same_v<T, Fp16>) {
    const __half2 both = __float22half2_rn(x);
    return __half_as_ushort(__low2half(both)) | __half_as_ushort(__high2half(both)) << 16U;
  } else if constexpr (std::is_same_v<T, Bf16>) {
    const __nv_bfloat162 both = __float22bfloat162_rn(x);
    return __bfloat16_as_ushort(__low2bfloat16(both)) | __bfloat16_as_ushort(__high2bfloat16(both))
                                                            << 16U;
  } else {
    static_assert(kIsFp8<T>);
    return __nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, kFp8Kind<T>);
  }
}

// The same two neighbours as a pair of elements.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

template <class T>
__device__ float2 to_float2(Pair<T> x) {
  if constexpr (sizeof(T) == 4) {
    return make_float2(to_float(x.first), to_float(x.second));
  } else {
    constexpr unsigned bits = 8 * sizeof(T);
    return widen<T>(static_cast<PairWord<T>>(x.first.bits | PairWord<T>{x.second.bits} << bits));
  }
}

template <class T>
__device__ Pair<T> from_float2(float2 x) {
  if constexpr (std::is_same_v<T, float>) {
    return {x.x, x.y};
  } else {
    constexpr unsigned bits = 8 * sizeof(T);
    using Bits = decltype(T::bits);
    const PairWord<T> both = narrow<T>(x);
    return {{static_cast<Bits>(both)}, {static_cast<Bits>(both >> bits)}};
  }
}

template <class T>
__device__ T from_float(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else if constexpr (std::is_same_v<T, Tf32x3>) {
    return {__float_as_uint(x)};
  } else if constexpr (std::is_same_v<T, Tf32>) {
    // As cvt.rna.tf32: half of the last kept bit added to the magnitude, the rest cut off.
    const std::uint32_t bits = __float_as_uint(x);
    const bool finite = (bits & 0x7f800000U) != 0x7f800000U;
    return {finite ? (bits + 0x1000U) & ~0x1fffU : bits};
  } else if constexpr (std::is_same_v<T, Fp16>) {
    return {__half_as_ushort(__float2half_rn(x))};
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
  } else {
    return {__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kFp8Kind<T>)};
  }
}

inline constexpr int kVectorBytes = 16;

template <class T>
inline constexpr int kVectorElements = kVectorBytes / static_cast<int>(sizeof(T));

// Vectors in each row of A[m,n], row-major: 0 where most rows are not aligned to vectors.
template <class T>
constexpr std::int64_t vectors_per_row(std::int64_t m, std::int64_t n) {
  return m == 1 || n % kVectorElements<T> == 0 ? n / kVectorElements<T> : 0;
}

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
