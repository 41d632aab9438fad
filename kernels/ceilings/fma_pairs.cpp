// Multiply-adds of bf16 pairs between registers (VDPBF16PS): every lane adds two products to its
// fp32 sum. 16 sums hide the latency of one instruction; nothing is loaded or stored but before the
// first and after the last. The limit is the rate at which the units accept work.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/ceilings/products.hpp"
#include "kernels/common/cpu/convert.hpp"
#include "kernels/common/cpu/streaming.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/cpu/target_begin_v4.hpp"

#include "kernels/common/cpu/pack.hpp"
#include "kernels/common/cpu/bf16_pairs.hpp"

namespace ridgebench {
namespace {

constexpr std::int64_t kRows = kPairsTile.m;
constexpr std::int64_t kVectors = kPairsTile.n / cpu::kLanes;

// All loops over registers are unrolled, or the compiler keeps the sums in memory.
void run(const Bf16* a, const Bf16* b, float* y, std::int64_t iterations) {
  cpu::Vector sum[kRows][kVectors] = {};
  cpu::Words row_of_a[kRows];
  cpu::Vector row_of_b[kVectors];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < kRows; ++i) {
    std::uint32_t pair = 0;
    std::memcpy(&pair, a + i * kPairsTile.k, sizeof pair);
    row_of_a[i] = cpu::in_every_lane(pair);
  }
#pragma GCC unroll 16
  for (std::int64_t v = 0; v < kVectors; ++v) {
    row_of_b[v] = cpu::load(b + kPairsTile.k * cpu::kLanes * v);
  }
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < kVectors; ++v) {
        cpu::multiply_add_pairs(sum[i][v], row_of_a[i], row_of_b[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < kVectors; ++v) {
      cpu::store(y + i * kPairsTile.n + v * cpu::kLanes, sum[i][v]);
    }
  }
}

Launch bind(Queue& queue, const Shape& shape, const Bf16* a, const Bf16* b, float* y) {
  cpu::require_bf16_pairs();
  return [tiles = shape["tiles"], iterations = shape["iterations"], threads = queue.threads(), a, b,
          y] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t t = 0; t < tiles; ++t) {
      run(a + t * kPairsTile.m * kPairsTile.k, b + t * kPairsTile.n * kPairsTile.k,
          y + t * kPairsTile.m * kPairsTile.n, iterations);
    }
  };
}

}  // namespace
}  // namespace ridgebench

#include "kernels/common/cpu/target_end.hpp"

namespace ridgebench {
namespace {

const Registration vdpbf16{
    {.operation = "fma_pairs_peak", .name = "vdpbf16", .engine = Engine::fma, .isa = cpu::kIsa},
    bind};

}  // namespace
}  // namespace ridgebench
