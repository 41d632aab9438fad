// A tile of C held in vector registers while words of A, one per row and step, multiply rows of
// words of B. A Kernel of blocked_product.hpp; the arithmetic is `MultiplyAdd`:
//   using Word = ...;  static void apply(Vector& sum, const std::uint32_t* a, Vector row_of_b);
// To be included inside a region of target_begin.hpp, after pack.hpp; see there.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench {
namespace {

template <class MultiplyAdd>
struct RegisterTile {
  using Word = typename MultiplyAdd::Word;
  // The sums, a row of b and a word of a fill the 16 vector registers (32 with AVX-512).
  static constexpr std::int64_t vectors = RIDGEBENCH_ISA_LEVEL == 4 ? 4 : 2;
  static constexpr std::int64_t rows = 6;
  static constexpr std::int64_t columns = vectors * cpu::kLanes;
  static constexpr std::int64_t step = 1;
  static constexpr std::int64_t run = 0;
  // A block's rows of A, its panel of B and its sums stay in the second cache.
  static constexpr std::int64_t depth = 512;
  static std::int64_t block_rows(std::int64_t /*k*/) { return 192; }

  static void begin() {}
  static void end() {}

  // Not inlined: the loop needs all registers.
  [[gnu::noinline]] static void multiply_tile(std::int64_t words, const std::uint32_t* a,
                                              std::int64_t lda, const std::uint32_t* b, float* c,
                                              bool add, cpu::LinesAhead& ahead) {
    Sums sum;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v)
        sum[i][v] = add ? cpu::load(c + i * columns + v * cpu::kLanes) : cpu::Vector{};
    }
    // Four steps at a time: counting would take turns from the multiply-adds.
    constexpr std::int64_t kTogether = 4;
    cpu::LinesAhead lines = ahead;  // in registers
    std::int64_t p = 0;
    for (; p + kTogether <= words; p += kTogether) {
      lines.ask();
#pragma GCC unroll 4
      for (std::int64_t q = p; q < p + kTogether; ++q)
        add_products(sum, a + q, lda, b + q * columns);
    }
    for (; p < words; ++p) add_products(sum, a + p, lda, b + p * columns);
    ahead = lines;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v)
        cpu::store(c + i * columns + v * cpu::kLanes, sum[i][v]);
    }
  }

 private:
  using Sums = cpu::Vector[rows][vectors];

  // One step: a word of each row of a times a row of b.
  [[gnu::always_inline]] static void add_products(Sums& sum, const std::uint32_t* a,
                                                  std::int64_t lda, const std::uint32_t* b) {
    cpu::Vector row[vectors];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) row[v] = cpu::load(b + v * cpu::kLanes);
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v) MultiplyAdd::apply(sum[i][v], a + i * lda, row[v]);
    }
  }
};

}  // namespace
}  // namespace ridgebench
