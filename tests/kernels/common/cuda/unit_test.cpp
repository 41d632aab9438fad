// Units of wgmma's operands against the tables of the PTX ISA, worked out here by hand. That the
// hardware reads them so is beyond these tests; the emulator's own model of it is in
// tests/emulator.
#include "kernels/common/cuda/unit.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ridgebench::cuda {
namespace {

constexpr int kPack = 16;

TEST(Unit, EveryByteHasItsPlace) {
  std::set<int> places;
  for (int line = 0; line < kUnitLines; ++line) {
    for (int byte = 0; byte < kLineBytes; ++byte) places.insert(swizzled(line, byte));
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(kUnitBytes));
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), kUnitBytes - 1);
}

// "Swizzling modes", 128 bytes: line 0 stays, line 1 begins with pack 1, line 7 with pack 7.
TEST(Unit, PacksChangePlacesAsInTheTable) {
  EXPECT_EQ(swizzled(0, 5 * kPack), 5 * kPack);
  EXPECT_EQ(swizzled(1, 0), 128 + 1 * kPack);
  EXPECT_EQ(swizzled(1, 1 * kPack), 128);
  EXPECT_EQ(swizzled(7, 0), 7 * 128 + 7 * kPack);
  EXPECT_EQ(swizzled(7, 2 * kPack + 3), 7 * 128 + 5 * kPack + 3);
  EXPECT_EQ(swizzled(8, 0), 8 * 128);
}

TEST(Unit, EightLinesNeverMeetInABank) {
  for (int first = 0; first < kUnitLines; first += 8) {
    for (int pack = 0; pack < 8; ++pack) {
      std::set<int> banks;
      for (int line = first; line < first + 8; ++line) {
        banks.insert(swizzled(line, pack * kPack) % kLineBytes / kPack);
      }
      EXPECT_EQ(banks.size(), 8U);
    }
  }
}

// Fields: start in bits 0 to 13, leading offset 16 to 29, stride 32 to 45, swizzle 62 and 63, all
// in 16 bytes: 0x12400, one unit, 8 lines, mode 1.
TEST(Unit, DescriptorHasItsFieldsInPlace) {
  const std::uint64_t descriptor = matrix_descriptor(0x12400);
  EXPECT_EQ(descriptor & 0x3fffU, 0x1240U);
  EXPECT_EQ(descriptor >> 16U & 0x3fffU, 8192U / 16);
  EXPECT_EQ(descriptor >> 32U & 0x3fffU, 1024U / 16);
  EXPECT_EQ(descriptor >> 49U & 7U, 0U);
  EXPECT_EQ(descriptor >> 62U, 1U);
}

TEST(Unit, StepsAndUnitsAdvanceTheStartAlone) {
  const std::uint64_t first = matrix_descriptor(0x400);
  EXPECT_EQ(first + step_offset(true, 3), matrix_descriptor(0x400 + 3 * 32));
  EXPECT_EQ(first + step_offset(false, 3), matrix_descriptor(0x400 + 3 * 16 * 128));
  EXPECT_EQ(first + unit_offset(2), matrix_descriptor(0x400 + 2 * 8192));
}

}  // namespace
}  // namespace ridgebench::cuda
