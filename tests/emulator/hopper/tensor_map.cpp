#include "tests/emulator/hopper/tensor_map.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "tests/emulator/core/shared_memory.hpp"
#include "tests/emulator/emulator.hpp"

namespace ridgebench::emulator {
namespace {

constexpr std::uint64_t kMagic = 0x70616d2d736e6574;
constexpr std::size_t kSwizzleUnit = 16;  // the unit of the swizzle

static_assert(sizeof(TiledMap) <= sizeof(CUtensorMap));

std::uint64_t g_bytes_read = 0;

std::uint32_t bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return 4;
    default:
      throw NotEmulated("a tensor map of this data type");
  }
}

bool aligned(const void* pointer, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

// Source of the limits: cuda.h, cuTensorMapEncodeTiled.
bool allowed(const TiledMap& map) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 32U;
  constexpr std::uint64_t most_pitch = std::uint64_t{1} << 40U;
  const auto is_size = [](std::uint64_t n) { return n >= 1 && n <= most_elements; };
  const auto is_box = [](std::uint32_t n) { return n >= 1 && n <= 256; };
  return aligned(map.matrix, 16) && is_size(map.row_length) && is_size(map.rows) &&
         map.pitch % 16 == 0 && map.pitch < most_pitch &&
         map.pitch >= map.row_length * map.element_bytes && is_box(map.box_length) &&
         is_box(map.box_rows) && map.line_bytes() % 16 == 0 &&
         (!map.swizzled || map.line_bytes() <= 128);
}

CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* matrix,
                      const cuuint64_t* sizes, const cuuint64_t* pitches, const cuuint32_t* box,
                      const cuuint32_t* strides, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion /*promotion*/,
                      CUtensorMapFloatOOBfill fill) {
  if (rank != 2 || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || strides[0] != 1 || strides[1] != 1 ||
      (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && swizzle != CU_TENSOR_MAP_SWIZZLE_128B)) {
    throw NotEmulated("a tensor map other than of a matrix in boxes");
  }
  const TiledMap tiles{.magic = kMagic,
                       .matrix = static_cast<std::byte*>(matrix),
                       .row_length = sizes[0],
                       .rows = sizes[1],
                       .pitch = pitches[0],
                       .box_length = box[0],
                       .box_rows = box[1],
                       .element_bytes = bytes_of(type),
                       .swizzled = swizzle == CU_TENSOR_MAP_SWIZZLE_128B};
  if (!aligned(map, 64) || !allowed(tiles)) return CUDA_ERROR_INVALID_VALUE;
  if (tiles.swizzled && tiles.line_bytes() != 128) {
    throw NotEmulated("swizzled boxes of less than 128 bytes");
  }
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, &tiles, sizeof tiles);
  return CUDA_SUCCESS;
}

// The part of a box that lies inside the matrix: bytes of its rows, and which rows.
struct Inside {
  std::int64_t first_line, lines, first_byte, bytes;
};

Inside inside(const TiledMap& map, BoxPlace place) {
  const auto clip = [](std::int64_t first, std::int64_t box, std::uint64_t size) {
    const std::int64_t begin = std::max<std::int64_t>(0, -first);
    const std::int64_t end = std::min(box, static_cast<std::int64_t>(size) - first);
    return std::pair(begin, std::max<std::int64_t>(0, end - begin));
  };
  const auto [row, rows] = clip(place.row, map.box_rows, map.rows);
  const auto [element, elements] = clip(place.along, map.box_length, map.row_length);
  const auto width = std::int64_t{map.element_bytes};
  return {row, rows, element * width, elements * width};
}

// Calls `copy(in the matrix, in the box, bytes)` for every row.
template <class Copy>
void for_each_line(const TiledMap& map, BoxPlace place, const Copy& copy) {
  const Inside in = inside(map, place);
  if (in.bytes == 0) return;
  for (std::int64_t i = in.first_line; i < in.first_line + in.lines; ++i) {
    const std::int64_t byte = place.along * std::int64_t{map.element_bytes} + in.first_byte;
    copy(map.matrix + (place.row + i) * static_cast<std::int64_t>(map.pitch) + byte,
         static_cast<std::size_t>(i) * map.line_bytes() + static_cast<std::size_t>(in.first_byte),
         static_cast<std::size_t>(in.bytes));
  }
}

std::uint32_t chunk_address(const TiledMap& map, std::uint32_t address, std::size_t offset) {
  const std::uint32_t linear = address + static_cast<std::uint32_t>(offset);
  return map.swizzled ? swizzle_128(linear) : linear;
}

}  // namespace

TiledMap tiled(const CUtensorMap* map) {
  TiledMap tiles{};
  std::memcpy(&tiles, map, sizeof tiles);
  if (!aligned(map, 64)) fault("a tensor map that is not aligned to 64 bytes");
  if (tiles.magic != kMagic) fault("a tensor map that was not encoded");
  return tiles;
}

std::vector<std::byte> read_box(const TiledMap& map, BoxPlace place) {
  std::vector<std::byte> box(map.box_bytes());
  for_each_line(map, place, [&](const std::byte* line, std::size_t at, std::size_t bytes) {
    std::memcpy(&box[at], line, bytes);
    g_bytes_read += bytes;
  });
  return box;
}

std::uint64_t take_bytes_read() { return std::exchange(g_bytes_read, 0); }

void write_box(const TiledMap& map, BoxPlace place, std::span<const std::byte> box) {
  for_each_line(map, place, [&](std::byte* line, std::size_t at, std::size_t bytes) {
    std::memcpy(line, &box[at], bytes);
  });
}

void scatter_box(const TiledMap& map, std::span<const std::byte> box, std::uint32_t address,
                 SharedMemory& shared) {
  for (std::size_t i = 0; i < box.size(); i += kSwizzleUnit) {
    std::byte* const to = shared.pointer(chunk_address(map, address, i), kSwizzleUnit);
    std::memcpy(to, &box[i], kSwizzleUnit);
    shared.async_proxy().wrote(to, kSwizzleUnit);
  }
}

std::vector<std::byte> gather_box(const TiledMap& map, std::uint32_t address,
                                  const SharedMemory& shared) {
  std::vector<std::byte> box(map.box_bytes());
  for (std::size_t i = 0; i < box.size(); i += kSwizzleUnit) {
    std::memcpy(&box[i], shared.pointer(chunk_address(map, address, i), kSwizzleUnit),
                kSwizzleUnit);
  }
  return box;
}

}  // namespace ridgebench::emulator

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                        unsigned /*version*/,
                                                        unsigned long long /*flags*/,
                                                        cudaDriverEntryPointQueryResult* found) {
  const bool known = std::string_view(name) == "cuTensorMapEncodeTiled";
  PFN_cuTensorMapEncodeTiled_v12000 const encoder = ridgebench::emulator::encode_tiled;
  *function = known ? reinterpret_cast<void*>(encoder) : nullptr;
  *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
