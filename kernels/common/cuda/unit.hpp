// The unit in which wgmma's operands are loaded and kept in shared memory: 64 lines of 128 bytes,
// aligned to 1024. Along k ("K-major") a line is 128 bytes of one vector, a row of A or a column of
// B; across k ("MN-major", 16-bit formats only) it is one k of 64 vectors. In every format 128
// bytes of k are four steps of wgmma, each of 32 bytes.
//
// Within a line the packs of 16 bytes change places: bits 4 to 6 of the address are XORed with bits
// 7 to 9, so that eight lines never meet in a bank. Sources: PTX ISA, "Swizzling modes" and "Matrix
// descriptor"; CUDA driver API, CU_TENSOR_MAP_SWIZZLE_128B.
#pragma once

#include <cstdint>

namespace ridgebench::cuda {

inline constexpr int kUnitLines = 64;
inline constexpr int kLineBytes = 128;
inline constexpr int kUnitBytes = kUnitLines * kLineBytes;
inline constexpr int kUnitAlignment = 1024;
inline constexpr int kStepBytes = 32;  // of k, of one wgmma
inline constexpr int kUnitSteps = 4;

// Numbers of k in 128 bytes, the k of one stage.
template <class T>
inline constexpr int kUnitK = kLineBytes / static_cast<int>(sizeof(T));

// Where byte `byte` of line `line` of a unit lies.
constexpr int swizzled(int line, int byte) {
  const int offset = line * kLineBytes + byte;
  return offset ^ (line % 8 * 16);
}

// Matrix descriptor: how wgmma finds an operand that starts at a shared address. Every field counts
// 16 bytes. The stride leads from eight lines to the next eight; MN-major, the leading offset leads
// from 64 vectors to the next 64, a unit further; K-major it is not used.
constexpr std::uint64_t matrix_descriptor(std::uint32_t shared_address) {
  constexpr std::uint64_t leading = kUnitBytes >> 4U;
  constexpr std::uint64_t stride = (8 * kLineBytes) >> 4U;
  constexpr std::uint64_t swizzle_128_bytes = 1;
  return (shared_address & 0x3ffffU) >> 4U | leading << 16U | stride << 32U |
         swizzle_128_bytes << 62U;
}

// What is added to a descriptor to go on by one step of k: 32 bytes of a line along k, 16 lines
// across it; and by one unit.
constexpr std::uint64_t step_offset(bool along_k, int step) {
  const int bytes = along_k ? kStepBytes : 16 * kLineBytes;
  return static_cast<std::uint64_t>(step * bytes) >> 4U;
}
constexpr std::uint64_t unit_offset(int unit) {
  return static_cast<std::uint64_t>(unit * kUnitBytes) >> 4U;
}

}  // namespace ridgebench::cuda
