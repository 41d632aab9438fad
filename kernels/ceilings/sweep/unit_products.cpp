// Each thread of a host multiplies the same matrices for its units, in plain code. It serves to
// find a core that computes other bits, and is limited by the multiply-adds of a core.
#include "kernels/ceilings/sweep/unit_products.hpp"

#include <algorithm>
#include <vector>

namespace ridgebench {
namespace {

// Adds `iterations` products to y, m x n. `b` is B^T, k x n.
void multiply(const std::vector<float>& a, const std::vector<float>& b, float* y, std::int64_t m,
              std::int64_t n, std::int64_t k, std::int64_t iterations) {
  std::vector<float> sum(static_cast<std::size_t>(n));
  std::fill_n(y, m * n, 0.0F);
  for (std::int64_t times = 0; times < iterations; ++times) {
    for (std::int64_t i = 0; i < m; ++i) {
      std::ranges::fill(sum, 0.0F);
      for (std::int64_t p = 0; p < k; ++p) {
        const float x = a[static_cast<std::size_t>(i * k + p)];
        const float* const row = b.data() + p * n;
        for (std::int64_t j = 0; j < n; ++j) sum[static_cast<std::size_t>(j)] += x * row[j];
      }
      for (std::int64_t j = 0; j < n; ++j) y[i * n + j] += sum[static_cast<std::size_t>(j)];
    }
  }
}

template <class T>
Launch bind(Queue& queue, const Shape& shape, const T* a, const T* b, float* y) {
  return [units = shape["units"], m = shape["m"], n = shape["n"], k = shape["k"],
          iterations = shape["iterations"], threads = queue.threads(), a, b, y] {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (std::int64_t unit = 0; unit < units; ++unit) {
      std::vector<float> left(static_cast<std::size_t>(m * k));
      std::vector<float> right(static_cast<std::size_t>(k * n));
      for (std::int64_t i = 0; i < m * k; ++i) left[static_cast<std::size_t>(i)] = decode(a[i]);
      for (std::int64_t i = 0; i < n * k; ++i) {
        right[static_cast<std::size_t>(i % k * n + i / k)] = decode(b[i]);
      }
      for (std::int64_t part = 0; part < kUnitParts; ++part) {
        multiply(left, right, y + (unit * kUnitParts + part) * m * n, m, n, k, iterations);
      }
    }
  };
}

const Registration by_thread{
    {.operation = "unit_products", .name = "by_thread", .engine = Engine::fma},
    Types<Tf32>{} + HalfTypes{},
    []<class T>() { return bind<T>; }};

}  // namespace
}  // namespace ridgebench
