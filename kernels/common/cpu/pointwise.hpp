// Functions of numbers on blocks of storage elements, for host kernels that map.hpp runs on all
// threads. Include it inside a region of target_begin.hpp, after convert.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "kernels/common/cpu/map.hpp"

namespace ridgebench::cpu {

// Elements of a block: a cache line, or more where the conversions fill a longer vector.
template <class T>
constexpr std::int64_t kPointwiseElements =
    FormatOf<T>::value == Format::fp32 ? kLineElements<T>
                                       : std::max<std::int64_t>(kLineElements<T>, kBlock);

// out[k] = function of in[k] of every input, for a block.
template <class Function, class... In>
[[gnu::always_inline]] static inline void apply(Function function, float* out, const In*... in) {
#pragma omp simd
  for (std::int64_t k = 0; k < kPointwiseElements<float>; ++k) out[k] = function(in[k]...);
}

// The same for a narrower format: widens kBlock elements of every input, computes, and narrows.
template <class Function, class T, class... In>
[[gnu::always_inline]] static inline void apply(Function function, T* out, const In*... in) {
  for (std::int64_t first = 0; first < kPointwiseElements<T>; first += kBlock) {
    const auto widened = [first](const T* x) __attribute__((always_inline)) {
      std::array<float, kBlock> values;
      widen_block(x + first, values.data());
      return values;
    };
    const std::array<std::array<float, kBlock>, sizeof...(In)> x{widened(in)...};
    std::array<float, kBlock> y;
    const auto compute = [&]<std::size_t... I>(std::index_sequence<I...>)
                             __attribute__((always_inline)) {
#pragma omp simd
                               for (std::size_t k = 0; k < kBlock; ++k) y[k] = function(x[I][k]...);
                             };
    compute(std::index_sequence_for<In...>());
    narrow_block(y.data(), out + first);
  }
}

// A launch of y[i] = function of x[i] of every input, n elements each. The function is a stateless
// object whose call the compiler inlines.
template <class Function, class T, class... In>
static Launch pointwise_launch(const Queue& queue, std::int64_t n, T* y, const In*... x) {
  const bool streaming = streaming_pays<T>(n, 1 + sizeof...(In));
  return [=, threads = queue.threads()] {
    const auto block = [](const In*... in, T* out)
                           __attribute__((always_inline)) { apply(Function(), out, in...); };
    map<kPointwiseElements<T>>(y, n, threads, streaming, block, x...);
  };
}

}  // namespace ridgebench::cpu
