// The layouts that wgmma prescribes. Sources: PTX ISA, "Shared memory matrix layout", "Swizzling
// modes", "Matrix descriptor" and "Register fragments" of wgmma.mma_async; CUDA driver API,
// CU_TENSOR_MAP_SWIZZLE_128B.
//
// An operand lies in shared memory in boxes of rows of 128 bytes; one TMA load writes a box.
// K-major, a row holds 128 bytes of k of one row of A or one column of B, and boxes follow each
// other without a gap. MN-major (16-bit formats only), a row holds one k of 64 rows of A or columns
// of B, and a box has 64 rows. Eight rows are a swizzle atom, which is aligned to its 1024 bytes.
// In every format 128 bytes of k are four wgmmas of 32 bytes each.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace ridgebench::cuda {

inline constexpr int kWgmmaM = 64;
inline constexpr int kBoxRows = 64;  // of a box, where a tile does not say otherwise
inline constexpr int kRowBytes = 128;
inline constexpr int kBoxBytes = kBoxRows * kRowBytes;
inline constexpr int kAtomBytes = 8 * kRowBytes;
inline constexpr int kWgmmaKBytes = 32;
inline constexpr int kWgmmasPerBlockK = kRowBytes / kWgmmaKBytes;

// The N, of all multiples of 8 up to 256, for which wgmma_mma_async is written.
inline constexpr std::array kWgmmaColumns{8,   16,  32,  64,  96,  112, 128,
                                          144, 160, 176, 192, 200, 224, 256};
constexpr bool is_wgmma_width(int n) {
  return std::ranges::find(kWgmmaColumns, n) != kWgmmaColumns.end();
}

// Elements of k in 128 bytes: what one stage of a pipeline holds.
template <class T>
inline constexpr int kBlockK = kRowBytes / static_cast<int>(sizeof(T));

// Offset of a byte of a row within a box, with the swizzle of 128 bytes: address bits [4:6] are
// XORed with bits [7:9]. Eight rows then never share a bank.
constexpr int swizzle_128b(int row, int byte) {
  const int offset = row * kRowBytes + byte;
  return offset ^ (row % 8 * 16);
}

// The descriptor of an operand that starts at a shared address. Address and offsets count 16 bytes.
// The stride offset leads from one swizzle atom to the next. MN-major, the leading offset leads
// from 64 rows or columns to the next 64, which is one box; K-major, wgmma ignores it.
constexpr std::uint64_t matrix_descriptor(std::uint32_t shared_address) {
  constexpr std::uint64_t leading_offset = kBoxBytes >> 4U;
  constexpr std::uint64_t stride_offset = kAtomBytes >> 4U;
  constexpr std::uint64_t swizzle_128b_mode = 1;
  return (shared_address & 0x3ffffU) >> 4U | leading_offset << 16U | stride_offset << 32U |
         swizzle_128b_mode << 62U;
}

// Increment of a descriptor for k-step number `step` of one wgmma each (32 bytes of a row
// K-major, 16 rows MN-major), and for box number `box`.
constexpr std::uint64_t k_step_offset(bool k_major, int step) {
  const int bytes = k_major ? kWgmmaKBytes : 16 * kRowBytes;
  return static_cast<std::uint64_t>(step * bytes) >> 4U;
}
constexpr std::uint64_t box_offset(int box) {
  return static_cast<std::uint64_t>(box * kBoxBytes) >> 4U;
}

// Row and column of accumulator i of thread t of a warpgroup, w = t / 32, l = t % 32:
//   row = 16 w + l / 4 + 8 (i / 2 % 2),   column = 8 (i / 4) + 2 (l % 4) + i % 2.
constexpr int accumulator_row(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
constexpr int accumulator_column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

}  // namespace ridgebench::cuda
