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

namespace ridgepoint::cpu {

// kBlock elements as fp32: where they lie or, if they must be converted, in `buffer`. bf16 comes in
// an order of its own, the same for every array, since pairs take fewer instructions: first the
// lower halves of all words, then the upper ones.
template <class T>
[[gnu::always_inline]] static inline const float* widened(const T* x, float* buffer) {
  constexpr Format kFormat = FormatOf<T>::value;
  if constexpr (kFormat == Format::fp32) {
    return x;
  } else if constexpr (kFormat == Format::bf16) {
    std::array<std::uint32_t, kBlock / 2> pairs;
    std::memcpy(pairs.data(), x, sizeof pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      buffer[i] = std::bit_cast<float>(pairs[i] << 16U);
      buffer[pairs.size() + i] = std::bit_cast<float>(pairs[i] & 0xffff0000U);
    }
    return buffer;
  } else {
    widen_block(x, buffer);
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
    const std::int64_t whole = n / kBlock * kBlock;
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < whole; i += kBlock) {
      std::array<float, kBlock> block;
      std::copy_n(widened(x + i, block.data()), kBlock, buffer + i);
    }
#pragma omp for schedule(static)
    for (std::int64_t i = whole; i < n; ++i) buffer[i] = widen(x[i]);
    return buffer;
  }
}

// y . x, or that with each of several rows of x, which lie `stride` elements apart, over n
// elements. y is of the format of x, or arranged for it. Each in running sums that fill four
// registers: one would wait for each addition; four hide 4 cycles of latency at one multiply-add
// per cycle, all that two loads per cycle can feed. x comes from memory, and so does y unless it is
// kReused: then a cache has it.
template <int kRows, bool kReused, class X, class Y>
static std::array<float, kRows> dots(const X* x, std::int64_t stride, const Y* y, std::int64_t n) {
  const std::int64_t whole = n / kBlock * kBlock;
  std::array<std::array<float, kBlock>, kRows> sums{};
  for (std::int64_t i = 0; i < whole; i += kBlock) {
    if constexpr (!kReused) ask_ahead<kBlock>(y + i);
    std::array<float, kBlock> buffer_y;
    const float* b = widened(y + i, buffer_y.data());
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const X* row = x + r * stride + i;
      ask_ahead<kBlock>(row);
      std::array<float, kBlock> buffer_x;
      const float* a = widened(row, buffer_x.data());
      for (std::int64_t k = 0; k < kBlock; ++k) sums[r][k] += a[k] * b[k];
    }
  }
  std::array<float, kRows> results;
  for (int r = 0; r < kRows; ++r) {
    results[r] = sum(sums[r]);
    const X* row = x + r * stride;
    for (std::int64_t i = whole; i < n; ++i) results[r] += widen(row[i]) * widen(y[i]);
  }
  return results;
}

}  // namespace ridgepoint::cpu
