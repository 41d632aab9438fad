// A 32 x 32 tile of C in four AMX tiles, so that each tile loaded of A or B serves two products. A
// Kernel of blocked_product.hpp; `Tiles` is AmxTiles or stands in for it.
// To be included inside a region of target_begin.hpp, after pack.hpp; see there.
#pragma once

#ifndef RIDGEBENCH_ISA
#error "include this file after kernels/common/cpu/target_begin.hpp"
#endif

namespace ridgebench {
namespace {

template <class Tiles>
struct AmxKernel {
  using Word = cpu::Bf16Pair;
  static constexpr std::int64_t rows = 2 * cpu::kTileRows;
  static constexpr std::int64_t columns = 2 * cpu::kTileWords;
  static constexpr std::int64_t step = cpu::kTileWords;
  static constexpr std::int64_t run = step;  // a tile of A lies in one piece
  // The panels of A and of B, 16 KiB each, stay in the first cache.
  static constexpr std::int64_t depth = 128;
  // A block's rows of A, 512 KiB, stay in the second: the next block needs them again. Twice as
  // many fill half of it; where pages lie anywhere in memory, some of its sets then overflow.
  static std::int64_t block_rows(std::int64_t k) {
    return std::clamp<std::int64_t>((std::int64_t{1} << 17U) / k, 128, 512);
  }

  static void begin() { Tiles::begin(); }
  static void end() { Tiles::end(); }

  static void multiply_tile(std::int64_t words, const std::uint32_t* a, std::int64_t lda,
                            const std::uint32_t* b, float* c, bool add, cpu::LinesAhead& ahead) {
    Tiles tiles;
    if (add) {
      load_sums(tiles, c);
    } else {
      zero_sums(tiles);
    }
    for (std::int64_t p = 0; p < words; p += step) {
      // As many lines as the products of a step leave time for, as measured.
      for (int line = 0; line < 8; ++line) ahead.ask();
      load_factors(tiles, a + p * rows, lda, b + p * columns);
      multiply(tiles);
    }
    store_sums(tiles, c);
  }

  // c = times a b^T, from a and b of one step, with nothing loaded or stored on the way.
  static void repeat_product(std::int64_t times, const Bf16* a, const Bf16* b, float* c) {
    alignas(64) std::uint32_t words_of_a[rows * step];
    alignas(64) std::uint32_t words_of_b[step * columns];  // as a tile wants them: row p, column j
    std::memcpy(words_of_a, a, sizeof words_of_a);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t p = 0; p < step; ++p) {
        std::memcpy(&words_of_b[p * columns + j], b + Word::steps * (j * step + p), 4);
      }
    }
    Tiles tiles;
    zero_sums(tiles);
    load_factors(tiles, words_of_a, step, words_of_b);
    for (std::int64_t i = 0; i < times; ++i) multiply(tiles);
    store_sums(tiles, c);
  }

 private:
  static constexpr std::int64_t kRowBytes = columns * sizeof(float);  // of b and c
  static constexpr std::int64_t kRight = cpu::kTileWords;
  static constexpr std::int64_t kBelow = cpu::kTileRows * columns;

  static void zero_sums(Tiles& tiles) {
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
  }
  static void load_sums(Tiles& tiles, const float* c) {
    tiles.template load<0>(c, kRowBytes);
    tiles.template load<1>(c + kRight, kRowBytes);
    tiles.template load<2>(c + kBelow, kRowBytes);
    tiles.template load<3>(c + kBelow + kRight, kRowBytes);
  }
  static void store_sums(Tiles& tiles, float* c) {
    tiles.template store<0>(c, kRowBytes);
    tiles.template store<1>(c + kRight, kRowBytes);
    tiles.template store<2>(c + kBelow, kRowBytes);
    tiles.template store<3>(c + kBelow + kRight, kRowBytes);
  }
  static void load_factors(Tiles& tiles, const std::uint32_t* a, std::int64_t lda,
                           const std::uint32_t* b) {
    tiles.template load<4>(a, lda * 4);
    tiles.template load<5>(a + cpu::kTileRows * lda, lda * 4);
    tiles.template load<6>(b, kRowBytes);
    tiles.template load<7>(b + kRight, kRowBytes);
  }
  static void multiply(Tiles& tiles) {
    tiles.template multiply<0, 4, 6>();
    tiles.template multiply<1, 4, 7>();
    tiles.template multiply<2, 5, 6>();
    tiles.template multiply<3, 5, 7>();
  }
};

}  // namespace
}  // namespace ridgebench
