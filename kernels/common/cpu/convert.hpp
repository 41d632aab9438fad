// Conversions between the storage formats and fp32 for host kernels: the values of decode and
// encode in kernels/common/format.hpp without branches, so that the compiler vectorises a loop over
// them.
//
// widen and narrow use only additions and integer operations: a multiplication with a denormal
// operand is slow on some processors, and wrong on one that flushes denormals.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#if defined(RIDGEBENCH_ISA_LEVEL) && RIDGEBENCH_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

#include "kernels/common/cpu/select.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench::cpu {

namespace convert_detail {

// A format as bit patterns without sign; adding `rebias` turns its exponent into fp32's.
struct Bits {
  explicit constexpr Bits(const FormatInfo& f)
      : shift(23U - static_cast<std::uint32_t>(f.mantissa_bits)),
        rebias(static_cast<std::uint32_t>(127 - f.bias()) << 23U),
        sign_shift(static_cast<std::uint32_t>(32 - f.bits())),
        infinity(((1U << f.exponent_bits) - 1U) << f.mantissa_bits),
        nan(encode_bits(f, std::bit_cast<float>(0x7fc00000U))),
        largest(f.has_infinity ? infinity - 1U : nan - 1U),
        overflow(f.saturates ? largest : infinity),
        min_normal(1U << f.mantissa_bits),
        step(static_cast<float>(f.min_subnormal() * 0x1p23)) {}

  std::uint32_t shift, rebias, sign_shift, infinity, nan, largest, overflow, min_normal;
  float step;  // floats just above it differ by one step of the format's subnormals
};

}  // namespace convert_detail

// The value of x. Exact; NaN stays NaN.
template <class T>
[[gnu::always_inline]] inline float widen(T x) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else if constexpr (sizeof(T) == sizeof(float)) {
    return std::bit_cast<float>(x.bits);
  } else if constexpr (FormatOf<T>::value == Format::bf16) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16U);
  } else {
    constexpr convert_detail::Bits kBits(info(T::format));
    constexpr auto kStep = std::bit_cast<std::uint32_t>(kBits.step);
    const std::uint32_t sign = static_cast<std::uint32_t>(x.bits) << kBits.sign_shift & 0x80000000U;
    const std::uint32_t magnitude = x.bits & (kBits.nan | (kBits.min_normal - 1U));
    const std::uint32_t normal = (magnitude << kBits.shift) + kBits.rebias;
    const float subnormal = std::bit_cast<float>(kStep + magnitude) - kBits.step;
    std::uint32_t y =
        select(magnitude < kBits.min_normal, std::bit_cast<std::uint32_t>(subnormal), normal);
    if constexpr (info(T::format).has_infinity)
      y = select(magnitude == kBits.infinity, 0x7f800000U, y);
    y = select(magnitude > (info(T::format).has_infinity ? kBits.infinity : kBits.largest),
               0x7fc00000U, y);
    return std::bit_cast<float>(sign | y);
  }
}

// x rounded to T as encode rounds it: to nearest, fp8 saturating, NaN to the canonical NaN of its
// sign.
template <class T>
[[gnu::always_inline]] inline T narrow(float x) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else if constexpr (FormatOf<T>::value == Format::tf32x3) {
    const std::uint32_t sign = std::bit_cast<std::uint32_t>(x) & 0x80000000U;
    return T{x == x ? std::bit_cast<std::uint32_t>(x) : sign | 0x7fc00000U};
  } else if constexpr (info(T::format).exponent_bits == 8) {  // fp32's: bf16 and tf32
    constexpr FormatInfo kInfo = info(T::format);
    constexpr convert_detail::Bits kBits(kInfo);
    constexpr std::uint32_t kHalf = 1U << (kBits.shift - 1U);
    constexpr int kUnused = kInfo.format == Format::tf32 ? 13 : 0;  // tf32 is stored as a float
    const auto raw = std::bit_cast<std::uint32_t>(x);
    // Rounds sign, exponent and mantissa as one integer: an overflow becomes infinity.
    const std::uint32_t bump = kInfo.ties_away ? kHalf : kHalf - 1U + (raw >> kBits.shift & 1U);
    const std::uint32_t nan = (raw & 0x80000000U) | kBits.nan << kBits.shift;
    const std::uint32_t y = select(x == x, raw + bump, nan) >> kBits.shift;
    return T{static_cast<decltype(T::bits)>(y << kUnused)};
  } else {
    constexpr FormatInfo kInfo = info(T::format);
    constexpr convert_detail::Bits kBits(kInfo);
    constexpr std::uint32_t kHalf = 1U << (kBits.shift - 1U);
    const auto raw = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t magnitude = raw & 0x7fffffffU;
    const std::uint32_t sign = (raw & 0x80000000U) >> kBits.sign_shift;
    // Just under half a step plus the last kept bit: a tie goes to the even neighbour.
    const std::uint32_t bump = kHalf - 1U + (magnitude >> kBits.shift & 1U);
    std::uint32_t y = (magnitude - kBits.rebias + bump) >> kBits.shift;
    // The sum is aligned with step, so that its own rounding is the rounding to the format.
    const float sum = std::bit_cast<float>(magnitude) + kBits.step;
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(kBits.step);
    y = select(magnitude < kBits.rebias + (1U << 23U), subnormal, y);
    y = select(y > kBits.largest, kBits.overflow, y);
    y = select(magnitude > 0x7f800000U, kBits.nan, y);
    return T{static_cast<decltype(T::bits)>(sign | y)};
  }
}

namespace convert_detail {

// fp8 as the bits of an fp16: e5m2 exactly, e4m3 as 2^-8 of its value (the biases of the exponents
// differ by 8), NaN as NaN.
template <class T>
[[gnu::always_inline]] constexpr std::uint16_t fp16_bits(T x) {
  if constexpr (T::format == Format::fp8_e5m2) {
    return static_cast<std::uint16_t>(x.bits << 8U);
  } else {
    // Both bits above the shifted magnitude hold the sign; the lower one belongs to the exponent.
    // Where the magnitude is all ones, adding one carries into that bit and makes the exponent
    // NaN's.
    const unsigned bits = static_cast<unsigned>(static_cast<std::int8_t>(x.bits)) << 7U & 0xbfffU;
    return static_cast<std::uint16_t>(bits | ((bits + 0x80U) & 0x4000U));
  }
}

// Number `index` of an array as the bits of an fp16: that of fp8, or of fp4_e2m1 as 2^-14 of its
// value.
template <class T>
[[gnu::always_inline]] constexpr std::uint16_t fp16_bits_at(const T* x, std::size_t index) {
  if constexpr (T::format == Format::fp4_e2m1) {
    const unsigned code = static_cast<unsigned>(x[index / 2].bits) >> (index % 2 * 4U);
    return static_cast<std::uint16_t>((code & 8U) << 12U | (code & 7U) << 9U);
  } else {
    return fp16_bits(x[index]);
  }
}

// The factor from the number that fp16_bits_at() returns to the value.
template <class T>
inline constexpr float kScaleOfFp16Bits = T::format == Format::fp8_e4m3   ? 0x1p8F
                                          : T::format == Format::fp4_e2m1 ? 0x1p14F
                                                                          : 1;

// fp8, rounded to nearest, from the bits of an fp16 that was rounded to odd.
template <class T>
[[gnu::always_inline]] constexpr T from_fp16_bits(std::uint16_t half) {
  static_assert(info(T::format).saturates);
  constexpr Bits kBits(info(T::format));
  constexpr unsigned kShift = T::format == Format::fp8_e5m2 ? 8 : 7;
  const auto magnitude = static_cast<std::uint16_t>(half & 0x7fffU);
  const auto bump =
      static_cast<std::uint16_t>((1U << (kShift - 1U)) - 1U + (magnitude >> kShift & 1U));
  const auto y = static_cast<std::uint16_t>(static_cast<std::uint16_t>(magnitude + bump) >> kShift);
  const auto most = static_cast<std::uint16_t>(magnitude > 0x7c00U ? kBits.nan : kBits.largest);
  return T{static_cast<std::uint8_t>((half >> 8U & 0x80U) | std::min(y, most))};
}

}  // namespace convert_detail

// The block conversions below exist because the compiler does not choose the processor's own
// conversions of fp16 for a plain loop. A block has as many elements as a vector register has
// bytes, so that the compiler fills whole registers in every format.
//
// narrow_fp16_to_odd rounds a number that fp16 does not hold to the neighbour whose last bit is 1,
// and at most to the largest. A second rounding to nearest, to at least two bits fewer, then gives
// what one rounding would (Boldo and Melquiond, IEEE TC 57(4), 2008). It converts two vectors, so
// that the next step reads one whole register.
#if defined(__clang__) || !defined(RIDGEBENCH_ISA_LEVEL) || RIDGEBENCH_ISA_LEVEL < 3
constexpr int kBlock = 16;
constexpr int kFp16Lanes = 0;  // no such conversions at this level
inline void widen_fp16(const void* in, float* out);
inline void narrow_fp16(const float* in, void* out);
inline void narrow_fp16_to_odd(const float* in, void* out);
#elif RIDGEBENCH_ISA_LEVEL == 3
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
constexpr int kBlock = 32;
constexpr int kFp16Lanes = 8;
[[gnu::always_inline]] inline void widen_fp16(const void* in, float* out) {
  _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(in))));
}
[[gnu::always_inline]] inline void narrow_fp16(const float* in, void* out) {
  _mm_storeu_si128(static_cast<__m128i*>(out),
                   _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT));
}
[[gnu::always_inline]] inline void narrow_fp16_to_odd(const float* in, void* out) {
  const __m256 low = _mm256_loadu_ps(in);
  const __m256 high = _mm256_loadu_ps(in + kFp16Lanes);
  const __m128i half_low = _mm256_cvtps_ph(low, _MM_FROUND_TO_ZERO);
  const __m128i half_high = _mm256_cvtps_ph(high, _MM_FROUND_TO_ZERO);
  const __m256 wrong_low = _mm256_cmp_ps(_mm256_cvtph_ps(half_low), low, _CMP_NEQ_UQ);
  const __m256 wrong_high = _mm256_cmp_ps(_mm256_cvtph_ps(half_high), high, _CMP_NEQ_UQ);
  // Packing leaves quarters 0 2 1 3 of the lanes in order.
  const __m256i wrong = _mm256_permute4x64_epi64(
      _mm256_packs_epi32(_mm256_castps_si256(wrong_low), _mm256_castps_si256(wrong_high)), 0xd8);
  const __m256i half = _mm256_set_m128i(half_high, half_low);
  _mm256_storeu_si256(static_cast<__m256i*>(out),
                      _mm256_or_si256(half, _mm256_srli_epi16(wrong, 15)));
}
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw")
constexpr int kBlock = 64;
constexpr int kFp16Lanes = 16;
// Masked intrinsics with all lanes set: GCC 12 warns about its own unmasked ones.
[[gnu::always_inline]] inline void widen_fp16(const void* in, float* out) {
  const __m256i half = _mm256_loadu_si256(static_cast<const __m256i*>(in));
  _mm512_storeu_ps(out, _mm512_maskz_cvtph_ps(0xffff, half));
}
[[gnu::always_inline]] inline void narrow_fp16(const float* in, void* out) {
  const __m256i half =
      _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT);
  _mm256_storeu_si256(static_cast<__m256i*>(out), half);
}
[[gnu::always_inline]] inline void narrow_fp16_to_odd(const float* in, void* out) {
  const __m512 low = _mm512_loadu_ps(in);
  const __m512 high = _mm512_loadu_ps(in + kFp16Lanes);
  const __m256i half_low = _mm512_maskz_cvtps_ph(0xffff, low, _MM_FROUND_TO_ZERO);
  const __m256i half_high = _mm512_maskz_cvtps_ph(0xffff, high, _MM_FROUND_TO_ZERO);
  const __mmask32 wrong = _mm512_kunpackw(
      _mm512_cmp_ps_mask(_mm512_maskz_cvtph_ps(0xffff, half_high), high, _CMP_NEQ_UQ),
      _mm512_cmp_ps_mask(_mm512_maskz_cvtph_ps(0xffff, half_low), low, _CMP_NEQ_UQ));
  const __m512i half =
      _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(half_low), half_high, 1);
  _mm512_storeu_si512(out,
                      _mm512_or_si512(half, _mm512_maskz_mov_epi16(wrong, _mm512_set1_epi16(1))));
}
#endif

// out[i] = widen(in[i]) for kCount numbers, a multiple of kFp16Lanes; both unaligned.
template <class T, std::int64_t kCount = kBlock>
[[gnu::always_inline]] inline void widen_block(const T* in, float* out) {
  constexpr Format kFormat = FormatOf<T>::value;
  if constexpr (kFp16Lanes > 0 && kFormat == Format::fp16) {
    for (std::int64_t i = 0; i < kCount; i += kFp16Lanes) widen_fp16(in + i, out + i);
  } else if constexpr (kFp16Lanes > 0 && info(kFormat).storage_bytes == 1) {
    std::array<std::uint16_t, kCount> half;
    for (std::size_t i = 0; i < kCount; ++i) half[i] = convert_detail::fp16_bits_at(in, i);
    for (std::size_t i = 0; i < kCount; i += kFp16Lanes) widen_fp16(&half[i], out + i);
    constexpr float kScale = convert_detail::kScaleOfFp16Bits<T>;
    for (std::int64_t i = 0; kScale != 1 && i < kCount; ++i) out[i] *= kScale;
  } else if constexpr (info(kFormat).numbers() > 1) {
    for (std::int64_t i = 0; i < kCount; ++i) out[i] = decode_at(in, i);
  } else {
    for (std::int64_t i = 0; i < kCount; ++i) out[i] = widen(in[i]);
  }
}

// out[i] = narrow<T>(in[i]) for kBlock elements; a NaN of fp16 may keep the upper bits of its
// payload.
template <class T>
[[gnu::always_inline]] inline void narrow_block(const float* in, T* out) {
  constexpr Format kFormat = FormatOf<T>::value;
  if constexpr (kFp16Lanes > 0 && kFormat == Format::fp16) {
    for (int i = 0; i < kBlock; i += kFp16Lanes) narrow_fp16(in + i, out + i);
  } else if constexpr (kFp16Lanes > 0 && info(kFormat).storage_bytes == 1) {
    // A scaled value that is denormal, or flushed to zero, rounds to zero in fp8.
    std::array<float, kBlock> scaled;
    for (std::size_t i = 0; i < kBlock; ++i) {
      scaled[i] = kFormat == Format::fp8_e4m3 ? in[i] * 0x1p-8F : in[i];
    }
    std::array<std::uint16_t, kBlock> half;
    for (int i = 0; i < kBlock; i += 2 * kFp16Lanes) {
      narrow_fp16_to_odd(scaled.data() + i, half.data() + i);
    }
    for (std::size_t i = 0; i < kBlock; ++i) out[i] = convert_detail::from_fp16_bits<T>(half[i]);
  } else {
    for (int i = 0; i < kBlock; ++i) out[i] = narrow<T>(in[i]);
  }
}

#if !defined(__clang__) && defined(RIDGEBENCH_ISA_LEVEL) && RIDGEBENCH_ISA_LEVEL >= 3
#pragma GCC pop_options
#endif

}  // namespace ridgebench::cpu
