// mma.sync, and mma.sp with one pair of places in all metadata. Source: PTX ISA, "Matrix Fragments
// for mma.m16n8k8", ".m16n8k16" and ".m16n8k32": with group = lane / 4, member = lane % 4 and p
// elements to a 32-bit register, register r of A holds row group + 8 (r % 2), columns p (member + 4
// (r / 2)) and on; register r of B holds column group, rows p (member + 4 r) and on; number r of D
// row group + 8 (r / 2), column 2 member + r % 2.
#include <array>
#include <bit>
#include <optional>

#include "kernels/common/format.hpp"
#include "tests/emulator/core/block.hpp"
#include "tests/emulator/ptx/ptx.hpp"
#include "tests/emulator/ptx/sums.hpp"

namespace ridgebench::emulator {
namespace {

constexpr unsigned kRows = 16;
constexpr unsigned kColumns = 8;
constexpr unsigned kMostK = 32;  // of what is multiplied

std::optional<Format> format_of(std::string_view type) {
  if (type == "tf32") return Format::tf32;
  if (type == "f16") return Format::fp16;
  if (type == "bf16") return Format::bf16;
  if (type == "e4m3") return Format::fp8_e4m3;
  if (type == "e5m2") return Format::fp8_e5m2;
  if (type == "s8") return Format::int8;
  return std::nullopt;
}

// Element `index` of a register, the lowest bits first. The hardware ignores the low 13 bits of
// tf32.
double element(std::uint32_t word, unsigned index, Format format) {
  if (format == Format::tf32) return double{std::bit_cast<float>(word & ~0x1fffU)};
  const FormatInfo& f = info(format);
  const auto bits = static_cast<unsigned>(f.bits());
  return double{decode_bits(f, word >> (bits * index) & ((1U << bits) - 1U))};
}

struct Fragments {
  Format a_format, b_format;
  std::array<std::uint32_t, 4> a = {};
  std::array<std::uint32_t, 4> b = {};  // two of a dense product
  std::uint32_t metadata = 0;           // 0 of a dense product
  std::array<std::uint32_t, 4> c = {};  // bits of sum_format(a_format)
  std::array<std::uint32_t*, 4> d = {};
};

// Which of the stored numbers of A meets line k of B; none where they are zero.
std::optional<unsigned> line_of(unsigned k, std::uint32_t metadata) {
  if (metadata == 0) return k;
  const std::uint32_t places = metadata & 0xfU;
  if (metadata != places * 0x11111111U) throw NotEmulated("metadata of several places");
  if ((places & 3U) >= places >> 2U) fault("metadata whose places are not in order");
  if (k % 4 == (places & 3U)) return k / 4 * 2;
  if (k % 4 == places >> 2U) return k / 4 * 2 + 1;
  return std::nullopt;
}

using Tile = std::array<std::array<double, kMostK>, kRows>;

// Products and sums in double, rounded to the format of sums once.
void multiply(const Lanes& lanes) {
  Tile a{};
  Tile b{};
  unsigned per_word = 1;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (lanes[lane] == nullptr) fault("mma.sync in a warp of fewer than 32 threads");
    const auto& own = *static_cast<const Fragments*>(lanes[lane]);
    per_word = 4 / static_cast<unsigned>(info(own.a_format).storage_bytes);
    for (unsigned r = 0; r < 4; ++r) {
      for (unsigned e = 0; e < per_word; ++e) {
        const unsigned k = per_word * (lane % 4 + 4 * (r / 2)) + e;
        a[lane / 4 + 8 * (r % 2)][k] = element(own.a[r], e, own.a_format);
      }
    }
    for (unsigned r = 0; r < (own.metadata == 0 ? 2 : 4); ++r) {
      for (unsigned e = 0; e < per_word; ++e) {
        const unsigned k = per_word * (lane % 4 + 4 * r) + e;
        const std::optional<unsigned> line = line_of(k, own.metadata);
        if (line) b[lane / 4][*line] = element(own.b[r], e, own.b_format);
      }
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const auto& own = *static_cast<const Fragments*>(lanes[lane]);
    for (unsigned r = 0; r < 4; ++r) {
      const auto& row = a[lane / 4 + 8 * (r / 2)];
      const auto& column = b[2 * (lane % 4) + r % 2];
      double sum = sum_of_bits(own.c[r], sum_format(own.a_format));
      for (unsigned k = 0; k < 8 * per_word; ++k) sum += row[k] * column[k];
      *own.d[r] = bits_of_sum(sum, sum_format(own.a_format));
    }
  }
}

bool execute_sparse(const Instruction& instruction) {
  // mma.sp.sync.aligned.shape.row.col.d.a.b.c
  const std::optional<Format> format = format_of(instruction.part(8));
  if (!format || info(*format).storage_bytes != 2 || instruction.count() != 18 ||
      instruction.part(4) != "m16n8k32" || instruction.part(7) != "f32" ||
      instruction.part(9) != instruction.part(8) || instruction.part(10) != "f32" ||
      instruction.integer(17) != 0) {
    return false;
  }
  Fragments own{.a_format = *format, .b_format = *format};
  for (std::size_t i = 0; i < 4; ++i) {
    own.d[i] = instruction.out<std::uint32_t>(i);
    own.a[i] = instruction.get<std::uint32_t>(4 + i);
    own.b[i] = instruction.get<std::uint32_t>(8 + i);
    own.c[i] = instruction.get<std::uint32_t>(12 + i);
  }
  own.metadata = instruction.get<std::uint32_t>(16);
  Block::current().with_warp(kWholeWarp, instruction.name(), &own, multiply, instruction.where());
  return true;
}

}  // namespace

bool execute_mma(const Instruction& instruction) {
  // mma.sync.aligned.shape.row.col.d.a.b.c
  if (instruction.part(7) == "f64") return execute_mma_f64(instruction);
  if (instruction.part(1).starts_with("sp")) return execute_sparse(instruction);
  const std::optional<Format> a = format_of(instruction.part(7));
  const std::optional<Format> b = format_of(instruction.part(8));
  if (!a || !b || instruction.count() != 14) return false;
  if ((*a == Format::int8) != (*b == Format::int8)) return false;
  const int bytes = info(*a).storage_bytes;
  const std::string_view sums = *a == Format::int8 ? "s32" : "f32";
  const std::string_view shape = bytes == 4 ? "m16n8k8" : bytes == 2 ? "m16n8k16" : "m16n8k32";
  if (instruction.part(1) != "sync" || instruction.part(3) != shape ||
      instruction.part(4) != "row" || instruction.part(5) != "col" || instruction.part(6) != sums ||
      instruction.part(9) != sums) {
    return false;
  }
  Fragments own{.a_format = *a, .b_format = *b};
  for (std::size_t i = 0; i < 4; ++i) {
    own.d[i] = instruction.out<std::uint32_t>(i);
    own.a[i] = instruction.get<std::uint32_t>(4 + i);
    own.c[i] = instruction.get<std::uint32_t>(10 + i);
  }
  for (std::size_t i = 0; i < 2; ++i) own.b[i] = instruction.get<std::uint32_t>(8 + i);
  Block::current().with_warp(kWholeWarp, instruction.name(), &own, multiply, instruction.where());
  return true;
}

}  // namespace ridgebench::emulator
