// The sum of many running sums.
#pragma once

#include <array>
#include <cstddef>

namespace ridgebench::cpu {

// Adds halves together until one is left: few steps that wait for each other, and vectors for as
// long as they are full. N is a power of two.
template <std::size_t N>
[[gnu::always_inline]] inline float sum(std::array<float, N> terms) {
  static_assert((N & (N - 1)) == 0);
#pragma GCC unroll 8  // so that each step's length is known
  for (std::size_t half = N / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) terms[k] += terms[k + half];
  }
  return terms[0];
}

}  // namespace ridgebench::cpu
