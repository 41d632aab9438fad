// Conversions between the storage formats and fp32 for host kernels: the values of decode and
// encode in kernels/common/format.hpp, but free of branches, so that a loop over them vectorises.
//
// Only sums and integer operations: a product with a denormal operand would be slow on some
// processors, and one that flushes denormals would be wrong.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#if defined(RIDGEPOINT_ISA_LEVEL) && RIDGEPOINT_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

#include "kernels/common/cpu/select.hpp"
#include "kernels/common/format.hpp"

namespace ridgepoint::cpu {

namespace convert_detail {

// A format as bit patterns without sign; `rebias` takes its exponent to fp32's.
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
  float step;  // floats just above it are one step of the format's subnormals apart
};

}  // namespace convert_detail

// The number that x stands for. Exact; NaN stays NaN.
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

// x rounded to T as encode does: to nearest, fp8 saturating, NaN to the canonical NaN of its sign.
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
    // Rounded as an integer, sign and all: what overflows becomes infinity.
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
    // Just under half a step, plus the last bit kept: a tie goes to the even neighbour.
    const std::uint32_t bump = kHalf - 1U + (magnitude >> kBits.shift & 1U);
    std::uint32_t y = (magnitude - kBits.rebias + bump) >> kBits.shift;
    // Aligned with step, the sum's own rounding is the one wanted.
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

// fp8 as the bits of an fp16: e5m2 exactly, e4m3 as 2^-8 of its value (the exponents' biases differ
// by 8), NaN as NaN.
template <class T>
[[gnu::always_inline]] constexpr std::uint16_t fp16_bits(T x) {
  if constexpr (T::format == Format::fp8_e5m2) {
    return static_cast<std::uint16_t>(x.bits << 8U);
  } else {
    // Both bits above the shifted magnitude are the sign; the lower one belongs to the exponent.
    // Where the magnitude is all ones, one more carries into that bit, which makes the exponent
    // NaN's.
    const unsigned bits = static_cast<unsigned>(static_cast<std::int8_t>(x.bits)) << 7U & 0xbfffU;
    return static_cast<std::uint16_t>(bits | ((bits + 0x80U) & 0x4000U));
  }
}

}  // namespace convert_detail

// Elements that the block conversions below convert at once: as many as a vector register holds
// bytes, so that the compiler fills whole registers in every format. They exist because it does not
// choose the processor's own conversions of fp16 for a plain loop.
#if defined(__clang__) || !defined(RIDGEPOINT_ISA_LEVEL) || RIDGEPOINT_ISA_LEVEL < 3
constexpr int kBlock = 16;
constexpr int kFp16Lanes = 0;  // no such conversions at this level
inline void widen_fp16(const void* in, float* out);
inline void narrow_fp16(const float* in, void* out);
#elif RIDGEPOINT_ISA_LEVEL == 3
#pragma GCC push_options
#pragma GCC target("avx,f16c")
constexpr int kBlock = 32;
constexpr int kFp16Lanes = 8;
[[gnu::always_inline]] inline void widen_fp16(const void* in, float* out) {
  _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(in))));
}
[[gnu::always_inline]] inline void narrow_fp16(const float* in, void* out) {
  _mm_storeu_si128(static_cast<__m128i*>(out),
                   _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT));
}
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
constexpr int kBlock = 64;
constexpr int kFp16Lanes = 16;
// The masked forms of all lanes: GCC 12 warns of its own unmasked ones.
[[gnu::always_inline]] inline void widen_fp16(const void* in, float* out) {
  const __m256i half = _mm256_loadu_si256(static_cast<const __m256i*>(in));
  _mm512_storeu_ps(out, _mm512_maskz_cvtph_ps(0xffff, half));
}
[[gnu::always_inline]] inline void narrow_fp16(const float* in, void* out) {
  const __m256i half =
      _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT);
  _mm256_storeu_si256(static_cast<__m256i*>(out), half);
}
#endif

// kBlock elements, in and out unaligned: out[i] = widen(in[i]).
template <class T>
[[gnu::always_inline]] inline void widen_block(const T* in, float* out) {
  constexpr Format kFormat = FormatOf<T>::value;
  if constexpr (kFp16Lanes > 0 && kFormat == Format::fp16) {
    for (int i = 0; i < kBlock; i += kFp16Lanes) widen_fp16(in + i, out + i);
  } else if constexpr (kFp16Lanes > 0 && info(kFormat).storage_bytes == 1) {
    std::array<std::uint16_t, kBlock> half;
    for (std::size_t i = 0; i < kBlock; ++i) half[i] = convert_detail::fp16_bits(in[i]);
    for (std::size_t i = 0; i < kBlock; i += kFp16Lanes) widen_fp16(&half[i], out + i);
    if constexpr (kFormat == Format::fp8_e4m3) {
      for (int i = 0; i < kBlock; ++i) out[i] *= 256.0F;
    }
  } else {
    for (int i = 0; i < kBlock; ++i) out[i] = widen(in[i]);
  }
}

// out[i] = narrow<T>(in[i])
template <class T>
[[gnu::always_inline]] inline void narrow_block(const float* in, T* out) {
  if constexpr (kFp16Lanes > 0 && FormatOf<T>::value == Format::fp16) {
    for (int i = 0; i < kBlock; i += kFp16Lanes) narrow_fp16(in + i, out + i);
  } else {
    for (int i = 0; i < kBlock; ++i) out[i] = narrow<T>(in[i]);
  }
}

#if !defined(__clang__) && defined(RIDGEPOINT_ISA_LEVEL) && RIDGEPOINT_ISA_LEVEL >= 3
#pragma GCC pop_options
#endif

}  // namespace ridgepoint::cpu
