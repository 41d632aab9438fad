// Dot products in fp32 of vectors in any format, on one thread. Include it inside a region of
// target_begin.hpp, for whose instruction set the compiler then builds it. Its functions are
// static, so that each region keeps its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"

namespace ridgebench::cpu {

// Elements that one step reads: a cache line, or a block of convert.hpp where that is shorter.
template <class T>
constexpr std::int64_t kPiece = std::min<std::int64_t>(kBlock, kLineElements<T>);

// kPiece elements as fp32: x itself, or `buffer` with the converted elements. bf16 is converted in
// pairs, which takes fewer instructions and changes the order, alike for every array: first the
// lower halves of all words, then the upper halves.
template <class T>
[[gnu::always_inline]] static inline const float* widened(const T* x, float* buffer) {
  constexpr Format kFormat = FormatOf<T>::value;
  if constexpr (kFormat == Format::fp32) {
    return x;
  } else if constexpr (kFormat == Format::bf16) {
    std::array<std::uint32_t, kPiece<T> / 2> pairs;
    std::memcpy(pairs.data(), x, sizeof pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      buffer[i] = std::bit_cast<float>(pairs[i] << 16U);
      buffer[pairs.size() + i] = std::bit_cast<float>(pairs[i] & 0xffff0000U);
    }
    return buffer;
  } else {
    widen_block<T, kPiece<T>>(x, buffer);
    return buffer;
  }
}

// x[0, n) as fp32 in the order of `widened`, for a vector that several dot products read: x itself,
// or `buffer` with the converted elements. All threads of a parallel region call it together.
template <class T>
static const float* arranged(const T* x, std::int64_t n, float* buffer) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else {
    const std::int64_t whole = n / kPiece<T> * kPiece<T>;
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < whole; i += kPiece<T>) {
      std::array<float, kPiece<T>> piece;
      std::copy_n(widened(x + i, piece.data()), kPiece<T>, buffer + i);
    }
#pragma omp for schedule(static)
    for (std::int64_t i = whole; i < n; ++i) buffer[i] = widen(x[i]);
    return buffer;
  }
}

// Adds the two halves of the terms until one is left: few steps depend on each other, and the
// vectors are full as long as possible. N is a power of two.
template <std::size_t N>
[[gnu::always_inline]] static inline float sum(std::array<float, N> terms) {
  static_assert((N & (N - 1)) == 0);
#pragma GCC unroll 8  // the length of each step is then a constant
  for (std::size_t half = N / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) terms[k] += terms[k + half];
  }
  return terms[0];
}

// Running sums, one for each element of a piece. They fill at least one register, whose additions
// take less time than memory.
template <class T>
using Sums = std::array<float, kPiece<T>>;

// Adds the products of a piece of x, which comes from memory, and a piece of y.
template <class T>
[[gnu::always_inline]] static inline void add_products(Sums<T>& sums, const T* x, const float* y) {
  prefetch_ahead<kPiece<T>>(x);
  std::array<float, kPiece<T>> buffer;
  const float* a = widened(x, buffer.data());
#pragma omp simd
  for (std::int64_t k = 0; k < kPiece<T>; ++k) sums[k] += a[k] * y[k];
}

// The total of the sums plus the products of the elements from `done` to n.
template <class T, class Y>
static float total(const Sums<T>& sums, const T* x, const Y* y, std::int64_t done, std::int64_t n) {
  float result = sum(sums);
  for (std::int64_t i = done; i < n; ++i) result += widen(x[i]) * widen(y[i]);
  return result;
}

// x . y over n elements from memory, a line of x and a line of y in turn: several lines of one
// array in a row would fill the core's buffers of outstanding misses.
template <class T>
static float dot(const T* x, const T* y, std::int64_t n) {
  const std::int64_t whole = n / kPiece<T> * kPiece<T>;
  Sums<T> sums{};
  for (std::int64_t i = 0; i < whole; i += kPiece<T>) {
    prefetch_ahead<kPiece<T>>(y + i);
    std::array<float, kPiece<T>> buffer;
    add_products(sums, x + i, widened(y + i, buffer.data()));
  }
  return total(sums, x, y, whole, n);
}

// A row from memory times an arranged y that a cache holds.
template <class T>
static float dot_arranged(const T* row, const float* y, std::int64_t n) {
  const std::int64_t whole = n / kPiece<T> * kPiece<T>;
  Sums<T> sums{};
  for (std::int64_t i = 0; i < whole; i += kPiece<T>) add_products(sums, row + i, y + i);
  return total(sums, row, y, whole, n);
}

// The same for two rows at once. The second row lags some lines behind: where rows lie a power of
// two apart, a Xeon reads two streams in step 2 to 5 % slower.
template <class T>
static std::array<float, 2> dot_arranged(const T* first, const T* second, const float* y,
                                         std::int64_t n) {
  const std::int64_t whole = n / kPiece<T> * kPiece<T>;
  const std::int64_t lag = std::min(whole, 24 * kPiece<T>);
  Sums<T> sums{};
  Sums<T> lagging{};
  for (std::int64_t i = 0; i < lag; i += kPiece<T>) add_products(sums, first + i, y + i);
  for (std::int64_t i = lag; i < whole; i += kPiece<T>) {
    add_products(sums, first + i, y + i);
    add_products(lagging, second + i - lag, y + i - lag);
  }
  for (std::int64_t i = whole - lag; i < whole; i += kPiece<T>) {
    add_products(lagging, second + i, y + i);
  }
  return {total(sums, first, y, whole, n), total(lagging, second, y, whole, n)};
}

}  // namespace ridgebench::cpu
