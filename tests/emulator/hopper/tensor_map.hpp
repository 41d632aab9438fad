// Tensor maps and the boxes that they describe. Sources: CUDA driver API, cuTensorMapEncodeTiled;
// PTX ISA, "Tensors", "Tiled mode" and "Swizzling modes".
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ridgebench::emulator {

class SharedMemory;

// What the emulator's encoder stores in the opaque words of a CUtensorMap: a matrix in boxes.
struct TiledMap {
  std::uint64_t magic;
  std::byte* matrix;
  std::uint64_t row_length, rows;  // elements
  std::uint64_t pitch;             // bytes
  std::uint32_t box_length, box_rows;
  std::uint32_t element_bytes;
  bool swizzled;

  [[nodiscard]] std::size_t line_bytes() const { return std::size_t{box_length} * element_bytes; }
  [[nodiscard]] std::size_t box_bytes() const { return line_bytes() * box_rows; }
};

// Coordinates of a box's first element; parts of it may lie outside the matrix.
struct BoxPlace {
  std::int64_t along, row;
};

// Faults where `map` was not encoded.
TiledMap tiled(const CUtensorMap* map);

// Bytes of matrices that read_box copied since the last call.
std::uint64_t take_bytes_read();

// Elements outside the matrix read as zeros and are not written.
std::vector<std::byte> read_box(const TiledMap& map, BoxPlace place);
void write_box(const TiledMap& map, BoxPlace place, std::span<const std::byte> box);

// Copies a box between rows in order and its swizzled form at an address of shared memory.
void scatter_box(const TiledMap& map, std::span<const std::byte> box, std::uint32_t address,
                 SharedMemory& shared);
std::vector<std::byte> gather_box(const TiledMap& map, std::uint32_t address,
                                  const SharedMemory& shared);

// Swizzle of 128 bytes: bits 4 to 6 of an address, XORed with bits 7 to 9.
constexpr std::uint32_t swizzle_128(std::uint32_t address) {
  return address ^ (address >> 7U & 7U) << 4U;
}

}  // namespace ridgebench::emulator
