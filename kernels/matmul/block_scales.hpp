// The layouts of the scales of a block-scaled product. The operand's value is the stored number
// times its scale. A line is a row of A or a column of B, and `depth` is K. A type below is what a
// technique or an operation takes as its parameter: it has the types of the numbers and of the
// scales, how many numbers along k share a scale (kBlock), how many scales memory holds, how many
// of them a product needs, and the index of the scale of a number.
#pragma once

#include <cstdint>

#include "kernels/common/ceil_div.hpp"
#include "kernels/common/format.hpp"

namespace ridgebench {

// 128 numbers along k share a scale: numbers of one row of A (1 x 128, activations), and of 128
// columns of B (128 x 128, weights). DeepGEMM and cuBLASLt read the same layouts on compute
// capability 9.0, but pad rows of scales to a multiple of 4 (DeepGEMM in A, cuBLASLt in B).
// Sources: DeepSeek-V3, arXiv 2412.19437, section 3.3.2; PyTorch, test/test_scaled_matmul_cuda.py,
// BlockWise1x128 and BlockWise128x128.
struct Fp32Scales {
  using Number = Fp8E4m3;
  using Scale = float;
  static constexpr std::int64_t kBlock = 128;

  // fp32 [ceil(K / 128), M], the scales of neighbouring rows of A side by side.
  static constexpr std::int64_t count_a(std::int64_t lines, std::int64_t depth) {
    return ceil_div(depth, kBlock) * lines;
  }
  static constexpr std::int64_t needed_a(std::int64_t lines, std::int64_t depth) {
    return count_a(lines, depth);
  }
  static constexpr std::int64_t index_a(std::int64_t line, std::int64_t k, std::int64_t lines,
                                        std::int64_t /*depth*/) {
    return k / kBlock * lines + line;
  }

  // fp32 [ceil(N / 128), ceil(K / 128)], the scales of neighbouring blocks of k side by side.
  static constexpr std::int64_t count_b(std::int64_t lines, std::int64_t depth) {
    return ceil_div(lines, kBlock) * ceil_div(depth, kBlock);
  }
  static constexpr std::int64_t needed_b(std::int64_t lines, std::int64_t depth) {
    return count_b(lines, depth);
  }
  static constexpr std::int64_t index_b(std::int64_t line, std::int64_t k, std::int64_t /*lines*/,
                                        std::int64_t depth) {
    return line / kBlock * ceil_div(depth, kBlock) + k / kBlock;
  }
};

// kNumbers along k of one line share a scale of one byte. A tile holds the scales of 128 lines and
// of 4 blocks of k in 512 bytes: those of lines 0, 32, 64 and 96 first, then of 1, 33, ...; the 4
// blocks of a line are neighbours. Tiles follow each other along k. The last ones may be partial.
// Sources: cuBLAS documentation, 1D block scaling factors layout; PyTorch,
// test/test_scaled_matmul_cuda.py, to_blocked.
template <class NumberType, class ScaleType, std::int64_t kNumbers>
struct TiledScales {
  using Number = NumberType;
  using Scale = ScaleType;
  static constexpr std::int64_t kBlock = kNumbers;
  static constexpr std::int64_t kTileLines = 128;
  static constexpr std::int64_t kTileBlocks = 4;
  static constexpr std::int64_t kTogether = 32;  // lines between neighbours in a tile

  static constexpr std::int64_t count_a(std::int64_t lines, std::int64_t depth) {
    return ceil_div(lines, kTileLines) * kTileLines * tiles_along(depth) * kTileBlocks;
  }
  static constexpr std::int64_t needed_a(std::int64_t lines, std::int64_t depth) {
    return lines * ceil_div(depth, kBlock);
  }
  static constexpr std::int64_t index_a(std::int64_t line, std::int64_t k, std::int64_t /*lines*/,
                                        std::int64_t depth) {
    const std::int64_t block = k / kBlock;
    const std::int64_t tile = line / kTileLines * tiles_along(depth) + block / kTileBlocks;
    const std::int64_t in_tile = line % kTileLines;
    return tile * kTileLines * kTileBlocks +
           (in_tile % kTogether * (kTileLines / kTogether) + in_tile / kTogether) * kTileBlocks +
           block % kTileBlocks;
  }

  static constexpr std::int64_t count_b(std::int64_t lines, std::int64_t depth) {
    return count_a(lines, depth);
  }
  static constexpr std::int64_t needed_b(std::int64_t lines, std::int64_t depth) {
    return needed_a(lines, depth);
  }
  static constexpr std::int64_t index_b(std::int64_t line, std::int64_t k, std::int64_t lines,
                                        std::int64_t depth) {
    return index_a(line, k, lines, depth);
  }

 private:
  static constexpr std::int64_t tiles_along(std::int64_t depth) {
    return ceil_div(depth, kBlock * kTileBlocks);
  }
};

// MXFP8: a power of two for 32 numbers. Source: OCP Microscaling Formats v1.0.
using Mxfp8 = TiledScales<Fp8E4m3, Ue8m0, 32>;
// NVFP4: a scale in fp8_e4m3, which is not negative (ue4m3), for 16 numbers. Sources: NVIDIA,
// "Introducing NVFP4", 2025; cublasLt.h, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3. A scale of a
// whole tensor, which NVFP4 has too, is a factor of C: cuBLASLt takes it as a part of alpha.
using Nvfp4 = TiledScales<Fp4Pair, Fp8E4m3, 16>;

}  // namespace ridgebench
