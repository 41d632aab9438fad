// Dot products in fp32 of vectors in any formats, on one thread. Include it inside a target region,
// which it is compiled for; its functions are static, so that each region keeps its own.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/cpu/sum.hpp"

namespace ridgepoint::cpu {

// kBlock elements as fp32: where they lie or, if they must be converted, in `buffer`; `ahead` is
// what will be needed after kAheadElements more.
template <class T>
static const float* widened(const T* x, float* buffer, const T* ahead) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else {
    for (std::int64_t k = 0; k < kBlock; k += kLineElements<T>) __builtin_prefetch(ahead + k);
    widen_block(x, buffer);
    return buffer;
  }
}

// results[r] = x_r . y over n elements, x_r being kRows vectors `stride` elements apart, which
// share what is read of y. Each takes kBlock running sums, which are four registers: one would wait
// for each addition; four hide 4 cycles of latency at one multiply-add per cycle, all that two
// loads per cycle can feed.
template <int kRows, class X, class Y>
static void dots(const X* x, std::int64_t stride, const Y* y, std::int64_t n, float* results) {
  const std::int64_t whole = n / kBlock * kBlock;
  std::array<std::array<float, kBlock>, kRows> sums{};
  for (std::int64_t i = 0; i < whole; i += kBlock) {
    std::array<float, kBlock> buffer_y;
    const float* b = widened(y + i, buffer_y.data(), y + i + kAheadElements<Y>);
    const X* ahead = x + i + kAheadElements<X>;
    if (i + kAheadElements<X> >= n) ahead += kRows * stride - n;  // the rows that come next
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      std::array<float, kBlock> buffer_x;
      const float* a = widened(x + r * stride + i, buffer_x.data(), ahead + r * stride);
      for (std::int64_t k = 0; k < kBlock; ++k) sums[r][k] += a[k] * b[k];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    results[r] = sum(sums[r]);
    for (std::int64_t i = whole; i < n; ++i) results[r] += widen(x[r * stride + i]) * widen(y[i]);
  }
}

// x . y over n elements.
template <class X, class Y>
static float dot(const X* x, const Y* y, std::int64_t n) {
  float result = 0;
  dots<1>(x, 0, y, n, &result);
  return result;
}

}  // namespace ridgepoint::cpu
