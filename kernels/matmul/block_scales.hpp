// The layout of the scales of a block-scaled product. 128 numbers along k share a scale: numbers of
// one row of A (1 x 128, activations), and of 128 columns of B (128 x 128, weights). The operand's
// value is the stored number times its scale. DeepGEMM and cuBLASLt read the same layouts on
// compute capability 9.0, but pad rows of scales to a multiple of 4 (DeepGEMM in A, cuBLASLt in B).
// Sources: DeepSeek-V3, arXiv 2412.19437, section 3.3.2; PyTorch, test/test_scaled_matmul_cuda.py,
// BlockWise1x128 and BlockWise128x128.
#pragma once

#include <cstdint>

#include "kernels/common/ceil_div.hpp"

namespace ridgebench {

inline constexpr std::int64_t kScaleBlock = 128;

constexpr std::int64_t scale_blocks(std::int64_t numbers) { return ceil_div(numbers, kScaleBlock); }

// fp32 [ceil(K / 128), M], the scales of neighbouring rows of A side by side.
constexpr std::int64_t scales_of_a(std::int64_t m, std::int64_t k) { return scale_blocks(k) * m; }
constexpr std::int64_t scale_index_a(std::int64_t row, std::int64_t k, std::int64_t m) {
  return k / kScaleBlock * m + row;
}

// fp32 [ceil(N / 128), ceil(K / 128)], the scales of neighbouring blocks of k side by side.
constexpr std::int64_t scales_of_b(std::int64_t n, std::int64_t k) {
  return scale_blocks(n) * scale_blocks(k);
}
constexpr std::int64_t scale_index_b(std::int64_t column, std::int64_t k, std::int64_t depth) {
  return column / kScaleBlock * scale_blocks(depth) + k / kScaleBlock;
}

}  // namespace ridgebench
