// A 32 x 32 tile of C in four AMX tiles, so that each tile loaded of A or B serves two products. A
// Kernel of blocked_product.hpp; `Tiles` is AmxTiles or stands in for it.
// To be included inside a region of target_begin.hpp, after pack.hpp; see there.
#pragma once

#ifndef RIDGEPOINT_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgepoint {
namespace {

template <class Tiles>
struct AmxKernel {
  using Word = cpu::Bf16Pair;
  static constexpr std::int64_t rows = 2 * cpu::kTileRows;
  static constexpr std::int64_t columns = 2 * cpu::kTileWords;
  static constexpr std::int64_t step = cpu::kTileWords;
  // The panels of A and of B, 16 KiB each, stay in the first cache.
  static constexpr std::int64_t depth = 128;
  static constexpr std::int64_t block_rows = 8 * rows;
  static constexpr std::int64_t block_columns = 8 * columns;

  static void begin() { Tiles::begin(); }
  static void end() { Tiles::end(); }

  static void multiply_tile(std::int64_t words, const std::uint32_t* a, std::int64_t lda,
                            const std::uint32_t* b, float* c) {
    constexpr std::int64_t kRowBytes = columns * sizeof(float);  // of b and c
    constexpr std::int64_t kRight = cpu::kTileWords;
    constexpr std::int64_t kBelow = cpu::kTileRows * columns;
    Tiles tiles;
    tiles.template load<0>(c, kRowBytes);
    tiles.template load<1>(c + kRight, kRowBytes);
    tiles.template load<2>(c + kBelow, kRowBytes);
    tiles.template load<3>(c + kBelow + kRight, kRowBytes);
    for (std::int64_t p = 0; p < words; p += step) {
      tiles.template load<4>(a + p, lda * 4);
      tiles.template load<5>(a + p + cpu::kTileRows * lda, lda * 4);
      tiles.template load<6>(b + p * columns, kRowBytes);
      tiles.template load<7>(b + p * columns + kRight, kRowBytes);
      tiles.template multiply<0, 4, 6>();
      tiles.template multiply<1, 4, 7>();
      tiles.template multiply<2, 5, 6>();
      tiles.template multiply<3, 5, 7>();
    }
    tiles.template store<0>(c, kRowBytes);
    tiles.template store<1>(c + kRight, kRowBytes);
    tiles.template store<2>(c + kBelow, kRowBytes);
    tiles.template store<3>(c + kBelow + kRight, kRowBytes);
  }
};

}  // namespace
}  // namespace ridgepoint
