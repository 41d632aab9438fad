#include "harness/device/cpu/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgebench {
namespace {

TEST(HostMemory, KnowsEveryNanOfTheSmallFormats) {
  HostMemory memory(1);
  for (const FormatInfo& f : kFormats) {
    if (f.storage_bytes > 2) continue;
    for (std::uint32_t bits = 0; bits < 1U << f.bits(); ++bits) {  // little-endian
      const bool expected = std::isnan(View{&bits, f.format}[0]);
      ASSERT_EQ(memory.has_nan(&bits, 1, f.format), expected) << f.name << ' ' << bits;
    }
  }
}

TEST(HostMemory, KnowsTheNanOfFourByteFormats) {
  HostMemory memory(1);
  for (const Format format : {Format::fp32, Format::tf32, Format::tf32x3}) {
    for (const float x : {0.0F, -1.0F, INFINITY, -INFINITY}) {
      EXPECT_FALSE(memory.has_nan(&x, 1, format)) << x;
    }
    for (const std::uint32_t nan : {0x7f800001U, 0x7fc00000U, 0xff800001U, 0xffffffffU}) {
      EXPECT_TRUE(memory.has_nan(&nan, 1, format)) << nan;
    }
  }
}

TEST(HostMemory, KnowsTheNanOfFp64) {
  HostMemory memory(1);
  for (const double x : {0.0, -1.0, double{INFINITY}, -double{INFINITY}}) {
    EXPECT_FALSE(memory.has_nan(&x, 1, Format::fp64)) << x;
  }
  for (const std::uint64_t nan : {0x7ff0000000000001U, 0x7ff8000000000000U, 0xffffffffffffffffU}) {
    EXPECT_TRUE(memory.has_nan(&nan, 1, Format::fp64)) << nan;
  }
}

TEST(HostMemory, FindsOneNanAmongMany) {
  HostMemory memory(2);
  std::vector<float> x(10'007, 1.0F);
  EXPECT_FALSE(memory.has_nan(x.data(), 10'007, Format::fp32));
  for (const std::size_t place : {std::size_t{0}, x.size() / 2, x.size() - 1}) {
    x[place] = NAN;
    EXPECT_TRUE(memory.has_nan(x.data(), 10'007, Format::fp32)) << place;
    x[place] = 1.0F;
  }
}

// The size exceeds the chunk of a thread and is not a multiple of it.
constexpr std::size_t kLarge = 3 * (std::size_t{1} << 20U) + 17;

TEST(HostMemory, SetsAllOfALargeRegionAndNothingBeyond) {
  HostMemory memory(2);
  std::vector<std::byte> bytes(kLarge + 2);
  const DeviceMemory::Region inner = DeviceMemory::Region(bytes).subspan(1, kLarge);
  memory.set({&inner, 1}, 0xA5);
  EXPECT_TRUE(memory.holds({&inner, 1}, 0xA5));
  EXPECT_EQ(bytes.front(), std::byte{0});
  EXPECT_EQ(bytes.back(), std::byte{0});
}

TEST(HostMemory, AChecksumChangesWithAnyByteAndWithTheirOrder) {
  HostMemory memory(2);
  std::vector<std::byte> bytes(kLarge);
  for (std::size_t i = 0; i < kLarge; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  const std::uint64_t before = memory.checksum(bytes);
  EXPECT_EQ(memory.checksum(bytes), before);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1} << 20U, kLarge - 1}) {
    bytes[at] ^= std::byte{1};
    EXPECT_NE(memory.checksum(bytes), before) << at;
    bytes[at] ^= std::byte{1};
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + (1 << 20U), bytes.begin() + (1 << 20U));
  EXPECT_NE(memory.checksum(bytes), before);
}

DeviceMemory::Region region_over(std::vector<std::uint64_t>& words) {
  return std::as_writable_bytes(std::span(words));
}

TEST(HostMemory, FindsEveryWordOffAPattern) {
  HostMemory memory(2);
  std::vector<std::uint64_t> words(300'001);
  for (std::size_t kind = 0; kind < names_of(PatternKind{}).names.size(); ++kind) {
    const MemoryPattern pattern{.kind = static_cast<PatternKind>(kind), .seed = 3};
    memory.write_pattern(region_over(words), pattern);
    EXPECT_EQ(memory.compare(region_over(words), pattern).words, 0) << kind;
    for (const std::size_t at : {std::size_t{0}, std::size_t{131'072}, words.size() - 1}) {
      words[at] ^= 0x11;
      const WrongBits wrong = memory.compare(region_over(words), pattern);
      EXPECT_EQ(wrong.words, 1);
      EXPECT_EQ(wrong.bits, 2);
      ASSERT_EQ(wrong.first.size(), 1U);
      EXPECT_EQ(wrong.first[0].index, at);
      EXPECT_EQ(wrong.first[0].expected ^ wrong.first[0].found, 0x11U);
      words[at] ^= 0x11;
    }
  }
}

TEST(HostMemory, ComparesEveryByteAndReportsTheFirstWords) {
  HostMemory memory(2);
  std::vector<std::uint64_t> found(400'000, 5);
  std::vector<std::uint64_t> expected = found;
  const auto all = region_over(found);
  for (const std::size_t bytes : {all.size(), all.size() - 3}) {  // the last word lacks bytes
    const auto part = all.first(bytes);
    const auto right = region_over(expected).first(bytes);
    EXPECT_EQ(memory.compare(part, right).words, 0);
    part.back() ^= std::byte{1};
    EXPECT_EQ(memory.compare(part, right).bits, 1);
    part.back() ^= std::byte{1};
  }
  for (std::uint64_t& word : found) word ^= 3;
  const WrongBits wrong = memory.compare(all, region_over(expected));
  EXPECT_EQ(wrong.words, 400'000);
  EXPECT_EQ(wrong.bits, 800'000);
  ASSERT_EQ(wrong.first.size(), kMostReported);
  for (std::size_t i = 0; i < kMostReported; ++i) EXPECT_EQ(wrong.first[i].index, i);
}

// Fingerprints of other builds and of other numbers of threads are the same.
TEST(HostMemory, TheChecksumOfBytesIsFixed) {
  std::vector<std::uint64_t> words(200'003);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = mix(i);
  const auto all = region_over(words);
  EXPECT_EQ(HostMemory(1).checksum(all), HostMemory(2).checksum(all));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) sum += sum_of_word(words[i], i);
  EXPECT_EQ(HostMemory(2).checksum(all), sum);
}

}  // namespace
}  // namespace ridgebench
