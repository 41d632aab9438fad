// wgmma's layouts against the tables of the PTX ISA, worked out here by hand. These tests cannot
// show that the hardware reads them so; the emulator's own model of it is in tests/emulator.
#include "kernels/common/cuda/ptx/wgmma_layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ridgebench::cuda {
namespace {

constexpr int kChunk = 16;

TEST(WgmmaLayout, SwizzleIsAPermutationOfTheBytesOfABox) {
  std::set<int> places;
  for (int row = 0; row < kBoxRows; ++row) {
    for (int byte = 0; byte < kRowBytes; ++byte) places.insert(swizzle_128b(row, byte));
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(kBoxBytes));
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), kBoxBytes - 1);
}

// "Swizzling modes", 128 bytes: row 0 stays, row 1 begins with chunk 1, row 7 with chunk 7.
TEST(WgmmaLayout, SwizzleFollowsTheTable) {
  EXPECT_EQ(swizzle_128b(0, 5 * kChunk), 5 * kChunk);
  EXPECT_EQ(swizzle_128b(1, 0), 128 + 1 * kChunk);
  EXPECT_EQ(swizzle_128b(1, 1 * kChunk), 128);
  EXPECT_EQ(swizzle_128b(7, 0), 7 * 128 + 7 * kChunk);
  EXPECT_EQ(swizzle_128b(7, 2 * kChunk + 3), 7 * 128 + 5 * kChunk + 3);
  EXPECT_EQ(swizzle_128b(8, 0), 8 * 128);
}

TEST(WgmmaLayout, EightRowsNeverShareABank) {
  for (int first = 0; first < kBoxRows; first += 8) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      std::set<int> banks;
      for (int row = first; row < first + 8; ++row) {
        banks.insert(swizzle_128b(row, chunk * kChunk) % kRowBytes / kChunk);
      }
      EXPECT_EQ(banks.size(), 8U);
    }
  }
}

// Fields: start in bits 0 to 13, leading offset 16 to 29, stride 32 to 45, swizzle 62 and 63, all
// in 16 bytes: 0x12400, one box, 8 rows, mode 1.
TEST(WgmmaLayout, DescriptorHasItsFieldsInPlace) {
  const std::uint64_t descriptor = matrix_descriptor(0x12400);
  EXPECT_EQ(descriptor & 0x3fffU, 0x1240U);
  EXPECT_EQ(descriptor >> 16U & 0x3fffU, 8192U / 16);
  EXPECT_EQ(descriptor >> 32U & 0x3fffU, 1024U / 16);
  EXPECT_EQ(descriptor >> 49U & 7U, 0U);
  EXPECT_EQ(descriptor >> 62U, 1U);
}

TEST(WgmmaLayout, StepsAndBoxesAdvanceTheStartAlone) {
  const std::uint64_t first = matrix_descriptor(0x400);
  EXPECT_EQ(first + k_step_offset(true, 3), matrix_descriptor(0x400 + 3 * 32));
  EXPECT_EQ(first + k_step_offset(false, 3), matrix_descriptor(0x400 + 3 * 16 * 128));
  EXPECT_EQ(first + box_offset(2), matrix_descriptor(0x400 + 2 * 8192));
}

}  // namespace
}  // namespace ridgebench::cuda
