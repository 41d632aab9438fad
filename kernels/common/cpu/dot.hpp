// The dot product in fp32 of two vectors in any formats, on one thread. Include it inside a target
// region, which it is compiled for; its functions are static, so that each region keeps its own.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/sum.hpp"

namespace ridgepoint::cpu {

// kBlock elements as fp32: where they lie or, if they must be converted, in `buffer`.
template <class T>
static const float* widened(const T* x, float* buffer) {
  if constexpr (FormatOf<T>::value == Format::fp32) {
    return x;
  } else {
    widen_block(x, buffer);
    return buffer;
  }
}

// x . y over n elements, in kBlock running sums, which are four registers. One running sum would
// wait for each addition; four registers hide 4 cycles of latency at one multiply-add per cycle,
// all that two loads per cycle can feed.
template <class X, class Y>
static float dot(const X* x, const Y* y, std::int64_t n) {
  const std::int64_t whole = n / kBlock * kBlock;
  std::array<float, kBlock> sums{};
  for (std::int64_t i = 0; i < whole; i += kBlock) {
    std::array<float, kBlock> buffer_x;
    std::array<float, kBlock> buffer_y;
    const float* a = widened(x + i, buffer_x.data());
    const float* b = widened(y + i, buffer_y.data());
    for (std::int64_t k = 0; k < kBlock; ++k) sums[k] += a[k] * b[k];
  }
  float total = sum(sums);
  for (std::int64_t i = whole; i < n; ++i) total += widen(x[i]) * widen(y[i]);
  return total;
}

}  // namespace ridgepoint::cpu
