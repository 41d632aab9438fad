// mma.sync in fp64. Source: PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64 floating point
// type" and "Matrix Fragments for mma.m16n8k16 with floating point type": with group = lane / 4,
// member = lane % 4 and g groups of 8 rows, register r of A holds row group + 8 (r % g), column
// member + 4 (r / g); register r of B holds column group, row member + 4 r; register r of D row
// group + 8 (r / 2), column 2 member + r % 2.
#include <array>
#include <cmath>

#include "tests/emulator/core/block.hpp"
#include "tests/emulator/ptx/ptx.hpp"

namespace ridgebench::emulator {
namespace {

struct DoubleFragments {
  unsigned groups;  // of 8 rows
  unsigned k;
  std::array<double, 8> a;
  std::array<double, 4> b;
  std::array<double, 4> c;
  std::array<double*, 4> d;
};

using DoubleTile = std::array<std::array<double, 16>, 16>;

void multiply_doubles(const Lanes& lanes) {
  DoubleTile a{};
  DoubleTile b{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (lanes[lane] == nullptr) fault("mma.sync in a warp of fewer than 32 threads");
    const auto& own = *static_cast<const DoubleFragments*>(lanes[lane]);
    for (unsigned r = 0; r < own.groups * own.k / 4; ++r) {
      a[lane / 4 + 8 * (r % own.groups)][lane % 4 + 4 * (r / own.groups)] = own.a[r];
    }
    for (unsigned r = 0; r < own.k / 4; ++r) b[lane / 4][lane % 4 + 4 * r] = own.b[r];
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const auto& own = *static_cast<const DoubleFragments*>(lanes[lane]);
    for (unsigned r = 0; r < 2 * own.groups; ++r) {
      const auto& row = a[lane / 4 + 8 * (r / 2)];
      const auto& column = b[2 * (lane % 4) + r % 2];
      double sum = own.c[r];
      for (unsigned k = 0; k < own.k; ++k) sum = std::fma(row[k], column[k], sum);
      *own.d[r] = sum;
    }
  }
}

}  // namespace

bool execute_mma_f64(const Instruction& instruction) {
  // mma.sync.aligned.shape.row.col.f64.f64.f64.f64
  const bool large = instruction.part(3) == "m16n8k16";
  if (!large && instruction.part(3) != "m8n8k4") return false;
  const std::size_t d = large ? 4 : 2;
  const std::size_t a = large ? 8 : 1;
  const std::size_t b = large ? 4 : 1;
  if (instruction.count() != 2 * d + a + b || instruction.part(1) != "sync" ||
      instruction.part(4) != "row" || instruction.part(5) != "col") {
    return false;
  }
  DoubleFragments own{
      .groups = large ? 2U : 1U, .k = large ? 16U : 4U, .a = {}, .b = {}, .c = {}, .d = {}};
  for (std::size_t i = 0; i < d; ++i) {
    own.d[i] = instruction.out<double>(i);
    own.c[i] = instruction.get<double>(d + a + b + i);
  }
  for (std::size_t i = 0; i < a; ++i) own.a[i] = instruction.get<double>(d + i);
  for (std::size_t i = 0; i < b; ++i) own.b[i] = instruction.get<double>(d + a + i);
  Block::current().with_warp(kWholeWarp, instruction.name(), &own, multiply_doubles,
                             instruction.where());
  return true;
}

}  // namespace ridgebench::emulator
