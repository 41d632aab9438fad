// Dot products in fp32 of vectors in any formats, on one thread. Include it inside a target region,
// which it is compiled for; its functions are static, so that each region keeps its own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/cpu/sum.hpp"

namespace ridgebench::cpu {

// Elements that are read at once: a line, or a block of convert.hpp where that is shorter.
template <class T>
constexpr std::int64_t kPiece = std::min<std::int64_t>(kBlock, kLineElements<T>);

// kPiece elements as fp32: where they lie or, if they must be converted, in `buffer`. bf16 comes in
// an order of its own, the same for every array, since pairs take fewer instructions: first the
// lower halves of all words, then the upper ones.
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

// x[0, n) as fp32 in the order in which arrays of its format come, for a y of dots that is read
// more than once: where it lies or, if it must be converted, in `buffer`. By all threads of a
// parallel region.
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

// Running sums, one for each element of a piece. They fill a register at least, whose additions
// wait for each other less than memory takes.
template <class T>
using Sums = std::array<float, kPiece<T>>;

// Adds x y, a piece of each; x comes from memory.
template <class T>
[[gnu::always_inline]] static inline void add_products(Sums<T>& sums, const T* x, const float* y) {
  ask_ahead<kPiece<T>>(x);
  std::array<float, kPiece<T>> buffer;
  const float* a = widened(x, buffer.data());
#pragma omp simd
  for (std::int64_t k = 0; k < kPiece<T>; ++k) sums[k] += a[k] * y[k];
}

// What the sums hold, and x y from element `done` on.
template <class T, class Y>
static float total(const Sums<T>& sums, const T* x, const Y* y, std::int64_t done, std::int64_t n) {
  float result = sum(sums);
  for (std::int64_t i = done; i < n; ++i) result += widen(x[i]) * widen(y[i]);
  return result;
}

// x . y over n elements, both from memory, and read line by line in turn: several lines at once of
// one fill what a core can have under way.
template <class T>
static float dot(const T* x, const T* y, std::int64_t n) {
  const std::int64_t whole = n / kPiece<T> * kPiece<T>;
  Sums<T> sums{};
  for (std::int64_t i = 0; i < whole; i += kPiece<T>) {
    ask_ahead<kPiece<T>>(y + i);
    std::array<float, kPiece<T>> buffer;
    add_products(sums, x + i, widened(y + i, buffer.data()));
  }
  return total(sums, x, y, whole, n);
}

// A row from memory times a y that a cache has, arranged for it.
template <class T>
static float dot_arranged(const T* row, const float* y, std::int64_t n) {
  const std::int64_t whole = n / kPiece<T> * kPiece<T>;
  Sums<T> sums{};
  for (std::int64_t i = 0; i < whole; i += kPiece<T>) add_products(sums, row + i, y + i);
  return total(sums, row, y, whole, n);
}

// The same of two rows at once. The second lags some lines behind: where rows lie powers of two
// apart, streams in step are read 2 to 5 % slower on a Xeon.
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
