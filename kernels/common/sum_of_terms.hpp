// The reference of an operation that adds up many terms to one number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgepoint {

// Sum and 2-norm of term(0) ... term(n - 1), shared out among the threads in chunks of a fixed
// size: the result does not depend on how many they are.
template <class Term>
Expected sum_of_terms(std::int64_t n, Term term) {
  constexpr std::int64_t kChunk = std::int64_t{1} << 18U;
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  std::vector<Expected> partial(static_cast<std::size_t>(chunks));
#pragma omp parallel for
  for (std::int64_t c = 0; c < chunks; ++c) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) {
      const double x = term(i);
      sum += x;
      squares += x * x;
    }
    partial[static_cast<std::size_t>(c)] = {sum, squares};
  }
  Expected total{0, 0};
  for (const Expected& p : partial) {
    total.value += p.value;
    total.norm += p.norm;
  }
  return {total.value, std::sqrt(total.norm)};
}

}  // namespace ridgepoint
