// The reference of an operation that adds up many terms to one number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgebench {

// Number of terms that are made and added together; they fit into a first-level cache.
inline constexpr std::int64_t kTermsAtOnce = 1024;

// Sum and 2-norm of n terms; terms(first, out) writes the out.size() ones from `first` on. They are
// shared out among the threads in chunks of a fixed size: the result does not depend on how many
// they are.
template <class Terms>
Expected sum_of_terms(std::int64_t n, Terms terms) {
  constexpr std::int64_t kChunk = std::int64_t{1} << 18U;
  constexpr std::size_t kSums = 8;
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  std::vector<Expected> partial(static_cast<std::size_t>(chunks));
#pragma omp parallel for if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c) {
    // Several sums: one would wait for each addition in turn.
    std::array<double, kSums> sums{};
    std::array<double, kSums> squares{};
    std::array<double, kTermsAtOnce> block;
    const std::int64_t end = std::min(n, (c + 1) * kChunk);
    for (std::int64_t first = c * kChunk; first < end; first += kTermsAtOnce) {
      const std::span<double> some(block.data(),
                                   static_cast<std::size_t>(std::min(kTermsAtOnce, end - first)));
      terms(first, some);
      std::fill(block.begin() + std::ssize(some), block.end(), 0.0);
      for (std::size_t i = 0; i < block.size(); i += kSums) {
        for (std::size_t j = 0; j < kSums; ++j) {
          sums[j] += block[i + j];
          squares[j] += block[i + j] * block[i + j];
        }
      }
    }
    partial[static_cast<std::size_t>(c)] = {std::accumulate(sums.begin(), sums.end(), 0.0),
                                            std::accumulate(squares.begin(), squares.end(), 0.0)};
  }
  Expected total{0, 0};
  for (const Expected& p : partial) {
    total.value += p.value;
    total.norm += p.norm;
  }
  return {total.value, std::sqrt(total.norm)};
}

// Terms x[x_first + i] y[i].
inline auto products(View x, std::int64_t x_first, View y) {
  return [=](std::int64_t first, std::span<double> out) {
    std::array<double, kTermsAtOnce> other;
    x.read(x_first + first, out);
    y.read(first, std::span(other).first(out.size()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= other[i];
  };
}

}  // namespace ridgebench
