// Dot products in fp32 of vectors in any formats, on one thread. Include it inside a target region,
// which it is compiled for; its functions are static, so that each region keeps its own.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/cpu/sum.hpp"

namespace ridgepoint::cpu {

// kBlock elements as fp32: where they lie or, if they must be converted, in `buffer`.
template <class T>
[[gnu::always_inline]] static inline const float* widened(const T* x, float* buffer) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else {
    widen_block(x, buffer);
    return buffer;
  }
}

// x . y over n elements, in kBlock running sums, which are four registers: one would wait for each
// addition; four hide 4 cycles of latency at one multiply-add per cycle, all that two loads per
// cycle can feed. x comes from memory, and so does y unless it is kReused: then a cache has it.
template <bool kReused, class X, class Y>
static float dot(const X* x, const Y* y, std::int64_t n) {
  const std::int64_t whole = n / kBlock * kBlock;
  std::array<float, kBlock> sums{};
  for (std::int64_t i = 0; i < whole; i += kBlock) {
    ask_ahead<kBlock>(x + i);
    if constexpr (!kReused) ask_ahead<kBlock>(y + i);
    std::array<float, kBlock> buffer_x;
    std::array<float, kBlock> buffer_y;
    const float* a = widened(x + i, buffer_x.data());
    const float* b = widened(y + i, buffer_y.data());
    for (std::int64_t k = 0; k < kBlock; ++k) sums[k] += a[k] * b[k];
  }
  float result = sum(sums);
  for (std::int64_t i = whole; i < n; ++i) result += widen(x[i]) * widen(y[i]);
  return result;
}

}  // namespace ridgepoint::cpu
