// A cache at full rate: every thread reads its own share again and again, with enough running sums
// to hide the latency of an addition. The limit is the cache's load bandwidth.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "kernels/common/registry.hpp"

#include "kernels/common/cpu/target_begin.hpp"

namespace ridgebench {
namespace {

// Independent running sums: eight registers hide 4 cycles of latency at 2 additions per cycle,
// which x86 cores of the last decade have.
constexpr std::int64_t kPartialSums = std::int64_t{8} * cpu::kLanes;

// Every pass repeats the same rounding errors, so fp32 sums cover a few passes and double the rest.
constexpr std::int64_t kPassesPerSum = 16;

// Sum over the passes of x[0, n).
double read(const float* x, std::int64_t n, std::int64_t passes) {
  const std::int64_t whole = n / kPartialSums * kPartialSums;
  double total = 0;
  for (std::int64_t left = passes; left > 0; left -= kPassesPerSum) {
    std::array<float, kPartialSums> partial{};
    for (std::int64_t pass = 0; pass < std::min(left, kPassesPerSum); ++pass) {
      for (std::int64_t i = 0; i < whole; i += kPartialSums) {
        for (std::int64_t k = 0; k < kPartialSums; ++k) partial[k] += x[i + k];
      }
    }
    total += std::accumulate(partial.begin(), partial.end(), 0.0);
  }
  for (std::int64_t i = whole; i < n; ++i) total += static_cast<double>(passes) * x[i];
  return total;
}

Launch bind(Queue& queue, const Shape& shape, const float* x, float* sum) {
  std::vector<double> sums(static_cast<std::size_t>(queue.threads()));
  return [n = shape["n"], passes = shape["passes"], threads = queue.threads(), sums, x,
          sum]() mutable {
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      const std::int64_t first = n * t / threads;
      const std::int64_t last = n * (t + 1) / threads;
      sums[static_cast<std::size_t>(t)] = read(x + first, last - first, passes);
    }
    *sum = static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0));
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

Technique technique(const std::string& operation) {
  return {.operation = operation,
          .name = "repeated",
          .engine = Engine::memory,
          .isa = cpu::kIsa,
          .full_rate = cpu::fills_registers};
}
constexpr auto bind_for = []<class>() { return bind; };

const Registration level_1{technique("cache_l1_read"), Types<float>{}, bind_for};
const Registration level_2{technique("cache_l2_read"), Types<float>{}, bind_for};
const Registration level_3{technique("cache_l3_read"), Types<float>{}, bind_for};

}  // namespace
}  // namespace ridgebench
