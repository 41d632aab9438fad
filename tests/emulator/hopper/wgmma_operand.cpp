#include "tests/emulator/hopper/wgmma_operand.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "tests/emulator/core/shared_memory.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/hopper/tensor_map.hpp"

namespace ridgebench::emulator {
namespace {

constexpr unsigned kStepBytes = 32;
constexpr unsigned kChunk = 16;
constexpr unsigned kLine = 128;
constexpr unsigned kLines = 8;        // of a swizzle atom
constexpr unsigned kMnElements = 64;  // of 16 bits in a row

std::uint64_t field(std::uint64_t bits, unsigned first, unsigned count) {
  return bits >> first & ((std::uint64_t{1} << count) - 1U);
}

unsigned element_bytes(Format format) { return static_cast<unsigned>(info(format).storage_bytes); }

// All values of a format of up to 16 bits.
std::vector<float> all_numbers(const FormatInfo& f) {
  std::vector<float> table;
  for (std::uint32_t bits = 0; f.storage_bytes < 4 && bits < 1U << f.bits(); ++bits) {
    table.push_back(decode_bits(f, bits));
  }
  return table;
}

const std::vector<float>& numbers(Format format) {
  static const auto tables = [] {
    std::array<std::vector<float>, kFormats.size()> all;
    for (const FormatInfo& f : kFormats) all[static_cast<std::size_t>(f.format)] = all_numbers(f);
    return all;
  }();
  return tables[static_cast<std::size_t>(format)];
}

// The elements in 16 bytes, each stored `step` after the one before.
using Decode = void (*)(const std::byte* chunk, Format format, double* to, std::size_t step);

template <class Bits>
void decode(const std::byte* chunk, Format format, double* to, std::size_t step) {
  const float* const table = numbers(format).data();
  std::array<Bits, kChunk / sizeof(Bits)> words;
  std::memcpy(words.data(), chunk, kChunk);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if constexpr (sizeof(Bits) == 4) {
      // The hardware ignores the low 13 bits of tf32.
      to[i * step] = double{std::bit_cast<float>(words[i] & ~0x1fffU)};
    } else {
      to[i * step] = double{table[words[i]]};
    }
  }
}

Decode decode_of(Format format) {
  return element_bytes(format) == 4   ? decode<std::uint32_t>
         : element_bytes(format) == 2 ? decode<std::uint16_t>
                                      : decode<std::uint8_t>;
}

}  // namespace

// Bits 0-13, 16-29 and 32-45 count 16 bytes; 49-51 are the base offset, 62-63 the swizzle.
WgmmaOperand::WgmmaOperand(std::uint64_t descriptor, Format format, bool across)
    : start_(static_cast<std::uint32_t>(field(descriptor, 0, 14) << 4U)),
      leading_(static_cast<std::uint32_t>(field(descriptor, 16, 14) << 4U)),
      stride_(static_cast<std::uint32_t>(field(descriptor, 32, 14) << 4U)),
      format_(format),
      across_(across) {
  constexpr std::uint64_t swizzle_128_bytes = 1;
  const std::uint64_t unused = field(descriptor, 14, 2) | field(descriptor, 30, 2) |
                               field(descriptor, 46, 3) | field(descriptor, 52, 10);
  if (unused != 0) fault(fmt::format("a matrix descriptor with unknown bits: {:#x}", descriptor));
  if (field(descriptor, 62, 2) != swizzle_128_bytes) {
    throw NotEmulated("a matrix descriptor without the swizzle of 128 bytes");
  }
  // The base offset is the position of the matrix in the swizzle pattern.
  if (field(descriptor, 49, 3) != 0 || start_ / kLine % kLines != 0) {
    fault(fmt::format("an operand at {:#x}, which is not where the swizzle's pattern starts",
                      start_));
  }
  if (across && element_bytes(format) != 2) fault("wgmma transposes formats of 16 bits alone");
}

unsigned WgmmaOperand::depth() const { return kStepBytes / element_bytes(format_); }
unsigned WgmmaOperand::per_chunk() const { return kChunk / element_bytes(format_); }

std::uint32_t WgmmaOperand::chunk(unsigned k, unsigned vector) const {
  const std::uint32_t linear =
      across_
          ? start_ + vector / kMnElements * leading_ + k / kLines * stride_ + k % kLines * kLine +
                vector % kMnElements / per_chunk() * kChunk
          : start_ + vector / kLines * stride_ + vector % kLines * kLine + k / per_chunk() * kChunk;
  return swizzle_128(linear);
}

template <class With>
void WgmmaOperand::for_each_chunk(unsigned first, unsigned count, const With& with) const {
  const unsigned k_step = across_ ? 1 : per_chunk();
  const unsigned vector_step = across_ ? per_chunk() : 1;
  for (unsigned vector = first; vector < first + count; vector += vector_step) {
    for (unsigned k = 0; k < depth(); k += k_step) with(chunk(k, vector), k, vector);
  }
}

std::vector<double> WgmmaOperand::read(const SharedMemory& shared, unsigned first,
                                       unsigned count) const {
  std::vector<double> values(std::size_t{depth()} * count);
  const Decode decode = decode_of(format_);
  const std::size_t step = across_ ? 1 : count;
  for_each_chunk(first, count, [&](std::uint32_t address, unsigned k, unsigned vector) {
    double* const to = &values[std::size_t{k} * count + vector - first];
    decode(shared.pointer(address, kChunk), format_, to, step);
  });
  return values;
}

void WgmmaOperand::require_published(SharedMemory& shared, unsigned count,
                                     std::string_view who) const {
  for_each_chunk(0, count, [&](std::uint32_t address, unsigned /*k*/, unsigned /*vector*/) {
    shared.async_proxy().reads(shared.pointer(address, kChunk), kChunk, who);
  });
}

}  // namespace ridgebench::emulator
