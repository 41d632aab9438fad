// The micro-kernel of `amx`: a 32 x 32 tile of C in four AMX tiles (kernels/common/cpu/amx.hpp).
// `Tiles` is AmxTiles, or a test's emulation of it. See blocked_product.hpp for what a micro-kernel
// has.
//
// Include it inside a region of target_begin.hpp, after pack.hpp.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench {
namespace {

template <class Tiles>
struct AmxKernel {
  using Accumulators = cpu::AmxAccumulators<Tiles>;
  using Word = cpu::Bf16Pair;
  static constexpr std::int64_t mr = Accumulators::kRows;
  static constexpr std::int64_t nr = Accumulators::kColumns;
  static constexpr std::int64_t step = cpu::kTileWords;
  static constexpr std::int64_t run = step;  // a tile of A is contiguous
  // The panels of A and of B, 16 KiB each, stay in the level-1 cache.
  static constexpr std::int64_t kc = 128;
  // A block's rows of A, 512 KiB, stay in the level-2 cache, because the next block needs them
  // again. Twice as many would fill half of it; where pages lie anywhere in memory, some sets
  // overflow then.
  static std::int64_t mc(std::int64_t k) {
    return std::clamp<std::int64_t>((std::int64_t{1} << 17U) / k, 128, 512);
  }

  static void begin() { Tiles::begin(); }
  static void end() { Tiles::end(); }

  static void multiply(std::int64_t words, const std::uint32_t* a, std::int64_t lda,
                       const std::uint32_t* b, float* c, bool add, cpu::PrefetchLines& prefetch) {
    Accumulators accumulators;
    if (add) {
      accumulators.load(c);
    } else {
      accumulators.zero();
    }
    for (std::int64_t p = 0; p < words; p += step) {
      // Measured: the products of one step hide eight prefetches.
      for (int line = 0; line < 8; ++line) prefetch.prefetch_next();
      accumulators.load_operands(a + p * mr, lda, b + p * nr);
      accumulators.multiply_add();
    }
    accumulators.store(c);
  }
};

}  // namespace
}  // namespace ridgebench
