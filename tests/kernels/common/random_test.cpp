#include "kernels/common/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr std::uint64_t kSeed = 42;

std::vector<std::uint16_t> bf16(std::int64_t elements, std::uint64_t seed = kSeed,
                                std::uint32_t stream = 0, int threads = 1, std::int64_t first = 0) {
  std::vector<std::uint16_t> data(static_cast<std::size_t>(elements));
  fill_random(data.data(), elements, Format::bf16, Fill::normal, seed, stream, threads, first);
  return data;
}

std::vector<float> fp32(Fill fill, std::int64_t elements) {
  std::vector<float> data(static_cast<std::size_t>(elements));
  fill_random(data.data(), elements, Format::fp32, fill, kSeed, 0, 2);
  return data;
}

double moment(const std::vector<float>& data, int order) {
  double sum = 0;
  for (const float x : data) sum += std::pow(x, order);
  return sum / static_cast<double>(data.size());
}

void expect_block(const PhiloxBlock& block, const std::vector<std::uint32_t>& expected) {
  EXPECT_EQ(std::vector(std::begin(block.word), std::end(block.word)), expected);
}

// Random123, tests/kat_vectors, the three lines of philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
  constexpr std::uint32_t ones = 0xffffffff;
  expect_block(philox4x32_10({{0, 0, 0, 0}}, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_block(philox4x32_10({{ones, ones, ones, ones}}, 0xffffffffffffffff),
               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_block(
      philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822),
      {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, BlocksServeEightElementsLowHalfFirst) {
  constexpr PhiloxBlock block{{0x22221111, 0x44443333, 0x66665555, 0x88887777}};
  for (std::uint32_t i = 0; i < kElementsPerBlock; ++i) {
    EXPECT_EQ(random_bits(block, i), 0x1111 * (i + 1));
  }
}

TEST(Philox, CounterIsBlockThenStream) {
  const PhiloxBlock block = random_block(kSeed, 7, 0x0000000500000003);
  expect_block(philox4x32_10({{3, 5, 7, 0}}, kSeed),
               std::vector(std::begin(block.word), std::end(block.word)));
}

// scipy.special.ndtri 1.10.
TEST(NormalQuantile, AgreesWithScipy) {
  const std::map<double, double> scipy{
      {1e-300, -37.0470962993612},       {1e-10, -6.361340902404056},
      {0.5 / 65536, -4.324919040826045}, {0.025, -1.9599639845400545},
      {0.25, -0.6744897501960817},       {32767.5 / 65536, -1.9124056051512087e-05},
      {0.975, 1.959963984540054},        {65535.5 / 65536, 4.324919040826045}};
  for (const auto& [p, x] : scipy) EXPECT_NEAR(normal_quantile(p), x, 1e-15 * (1 + std::abs(x)));
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(QuantileTable, HoldsTheNormalQuantiles) {
  const auto table = quantile_table(Format::fp32, Fill::normal);
  for (std::uint32_t k = 0; k < kQuantiles; ++k) {
    const auto expected = static_cast<float>(normal_quantile((k + 0.5) / kQuantiles));
    ASSERT_EQ(std::bit_cast<float>(table[k]), expected) << k;
  }
}

TEST(QuantileTable, FillsAreSymmetric) {
  for (const Fill fill : {Fill::normal, Fill::uniform, Fill::integers}) {
    const auto table = quantile_table(Format::fp32, fill);
    ASSERT_EQ(table.size(), kQuantiles);
    for (std::size_t k = 0; k < table.size() / 2; ++k) {
      const auto x = std::bit_cast<float>(table[k]);
      ASSERT_EQ(x, -std::bit_cast<float>(table[kQuantiles - 1 - k])) << name(fill) << k;
      ASSERT_LE(x, 0) << name(fill) << k;
    }
  }
}

TEST(QuantileTable, HoldsTheFormatsStorage) {
  EXPECT_EQ(quantile_table(Format::fp8_e4m3, Fill::integers).front(), encode<Fp8E4m3>(-2).bits);
  EXPECT_EQ(quantile_table(Format::fp8_e5m2, Fill::integers).back(), encode<Fp8E5m2>(2).bits);
  EXPECT_EQ(quantile_table(Format::fp16, Fill::normal).front(), encode<Fp16>(-4.3249190F).bits);
  for (const std::uint32_t bits : quantile_table(Format::tf32, Fill::normal)) {
    ASSERT_EQ(encode<Tf32>(std::bit_cast<float>(bits)).bits, bits);  // rounded already
  }
}

TEST(QuantileTable, IntegersHaveEqualShares) {
  std::map<float, int> share;
  for (const std::uint32_t bits : quantile_table(Format::fp32, Fill::integers)) {
    ++share[std::bit_cast<float>(bits)];
  }
  EXPECT_EQ(share,
            (std::map<float, int>{{-2, 13107}, {-1, 13107}, {0, 13108}, {1, 13107}, {2, 13107}}));
}

TEST(FillRandom, ElementIsTheQuantileOfItsBits) {
  const auto table = quantile_table(Format::bf16, Fill::normal);
  const auto data = bf16(1000, kSeed, 3);
  for (std::uint32_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(data[i], table[random_bits(random_block(kSeed, 3, i / 8), i % 8)]) << i;
  }
}

TEST(FillRandom, DoesNotDependOnTheNumberOfThreads) {
  EXPECT_EQ(bf16(10007, kSeed, 0, 1), bf16(10007, kSeed, 0, 2));
  EXPECT_EQ(bf16(10007, kSeed, 0, 1), bf16(10007, kSeed, 0, 7));
}

TEST(FillRandom, AnyPartCanBeMadeAlone) {
  const auto whole = bf16(1300);
  for (std::int64_t first = 0; first < 20; ++first) {
    for (const std::int64_t elements : {0, 1, 3, 8, 17, 180, 512, 1280}) {
      const std::vector part(whole.begin() + first, whole.begin() + first + elements);
      ASSERT_EQ(bf16(elements, kSeed, 0, 2, first), part) << first << ' ' << elements;
    }
  }
  // Far beyond 2^32 blocks: the upper counter word counts.
  const std::int64_t far = std::int64_t{1} << 40U;
  EXPECT_NE(bf16(16, kSeed, 0, 1, far), bf16(16));
}

TEST(FillRandom, WritesNothingOutside) {
  for (const Format format : {Format::fp8_e4m3, Format::bf16, Format::tf32, Format::fp64}) {
    const auto bytes = static_cast<std::size_t>(info(format).storage_bytes);
    std::vector<unsigned char> guarded(64 + 21 * bytes + 64, 0xa5);
    fill_random(guarded.data() + 64, 21, format, Fill::zeros, kSeed, 0, 2, 3);
    for (std::size_t i = 0; i < guarded.size(); ++i) {
      const bool inside = i >= 64 && i < 64 + 21 * bytes;
      ASSERT_EQ(guarded[i], inside ? 0 : 0xa5) << info(format).name << ' ' << i;
    }
  }
}

TEST(FillRandom, Fp64HasTheNumbersOfFp32) {
  std::vector<float> narrow(1003);
  std::vector<double> wide(1003);
  fill_random(narrow.data(), 1003, Format::fp32, Fill::normal, kSeed, 0, 2, 3);
  fill_random(wide.data(), 1003, Format::fp64, Fill::normal, kSeed, 0, 2, 3);
  EXPECT_TRUE(std::ranges::equal(narrow, wide));
}

TEST(FillRandom, Int8HasWholeNumbersOfItsWholeRange) {
  std::vector<std::int8_t> x(100003);
  fill_random(x.data(), 100003, Format::int8, Fill::normal, kSeed, 0, 2, 3);
  double squares = 0;
  for (const std::int8_t value : x) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(std::sqrt(squares / 100003), kInt8Scale, 0.5);
  EXPECT_GE(std::ranges::max(x), 120);
  EXPECT_LE(std::ranges::min(x), -120);
  fill_random(x.data(), 100003, Format::int8, Fill::integers, kSeed, 0, 2, 3);
  EXPECT_EQ(std::ranges::max(x), 2);
  EXPECT_EQ(std::ranges::min(x), -2);
}

// Both numbers of a pair are normal and do not depend on each other.
TEST(FillRandom, Fp4HasPairsOfNumbers) {
  constexpr std::int64_t kPairs = 100000;
  std::vector<Fp4Pair> x(kPairs);
  fill_random(x.data(), kPairs, Format::fp4_e2m1, Fill::normal, kSeed, 0, 2, 0);
  std::array<double, 3> products{};  // first x first, second x second, first x second
  for (std::int64_t i = 0; i < kPairs; ++i) {
    const double first = decode_at(x.data(), 2 * i);
    const double second = decode_at(x.data(), 2 * i + 1);
    products[0] += first * first / kPairs;
    products[1] += second * second / kPairs;
    products[2] += first * second / kPairs;
  }
  EXPECT_NEAR(products[0], 1, 0.1);
  EXPECT_NEAR(products[1], 1, 0.1);
  EXPECT_NEAR(products[2], 0, 0.02);
  fill_random(x.data(), kPairs, Format::fp4_e2m1, Fill::zeros, kSeed, 0, 2, 0);
  EXPECT_TRUE(std::ranges::all_of(x, [](Fp4Pair pair) { return pair.bits == 0; }));
}

TEST(FillRandom, SeedsAndStreamsDiffer) {
  EXPECT_EQ(bf16(64), bf16(64));
  EXPECT_NE(bf16(64, 43), bf16(64));
  EXPECT_NE(bf16(64, kSeed | std::uint64_t{1} << 32U), bf16(64));
  EXPECT_NE(bf16(64, kSeed, 1), bf16(64));
}

// The seed is fixed, so these never fail by chance. Bounds: four standard errors, sqrt(var / n).
TEST(FillRandom, NormalHasItsMoments) {
  const auto data = fp32(Fill::normal, 1'000'000);
  EXPECT_NEAR(moment(data, 1), 0, 4 * 1e-3);
  EXPECT_NEAR(moment(data, 2), 1, 4 * std::sqrt(2.0) * 1e-3);
  EXPECT_NEAR(moment(data, 3), 0, 4 * std::sqrt(15.0) * 1e-3);
  EXPECT_NEAR(moment(data, 4), 3, 4 * std::sqrt(96.0) * 1e-3);
}

TEST(FillRandom, UniformHasItsMomentsAndRange) {
  const auto data = fp32(Fill::uniform, 1'000'000);
  EXPECT_NEAR(moment(data, 1), 0, 4 * std::sqrt(1.0 / 3) * 1e-3);
  EXPECT_NEAR(moment(data, 2), 1.0 / 3, 4 * std::sqrt(4.0 / 45) * 1e-3);
  for (const float x : data) ASSERT_LT(std::abs(x), 1);
}

TEST(FillRandom, NeighboursAreNotCorrelated) {
  const auto data = fp32(Fill::normal, 1'000'000);
  for (const std::size_t lag : {1U, 2U, 8U}) {
    double sum = 0;
    for (std::size_t i = lag; i < data.size(); ++i) sum += double{data[i]} * data[i - lag];
    EXPECT_NEAR(sum / static_cast<double>(data.size()), 0, 4e-3) << lag;
  }
}

TEST(FillName, EveryNameParsesToItself) {
  for (const Fill fill : {Fill::normal, Fill::uniform, Fill::zeros, Fill::integers}) {
    EXPECT_EQ(parse<Fill>(name(fill)), fill);
  }
  try {
    (void)parse<Fill>("ones");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown fill 'ones'; allowed: normal, uniform, zeros, integers");
  }
}

TEST(Random, ValuesOfAnOperandKeepTheirBounds) {
  constexpr std::int64_t n = 100000;
  std::vector<float> x(n);
  fill_random(x.data(), n, Format::fp32, uniform(2, 6), kSeed, 3, 2);
  for (const float value : x) ASSERT_TRUE(value >= 2 && value <= 6) << value;
  EXPECT_NEAR(moment(x, 1), 4, 0.02);
  std::vector<std::int32_t> index(n);
  for (const std::int64_t bound : {std::int64_t{1}, std::int64_t{3}, std::int64_t{1} << 31U}) {
    fill_random(index.data(), n, Format::int32, integers_below(bound), kSeed, 3, 2);
    double sum = 0;
    for (const std::int32_t value : index) {
      ASSERT_TRUE(value >= 0 && value < bound) << value;
      sum += value;
    }
    const auto largest = static_cast<double>(bound - 1);
    EXPECT_NEAR(sum / static_cast<double>(n), largest / 2, 0.01 * largest) << bound;
  }
}

TEST(Random, ValuesOfAnOperandAreRoundedToItsFormat) {
  constexpr std::int64_t n = 1003;
  for (const Format format : {Format::fp64, Format::fp32, Format::tf32, Format::fp16, Format::bf16,
                              Format::fp8_e4m3, Format::int32, Format::int8}) {
    const auto bytes = static_cast<std::size_t>(info(format).storage_bytes);
    const Values values = format == Format::int32 ? integers_below(77) : uniform(-3, 9);
    for (const std::int64_t first : {0, 4, 40}) {
      std::vector<std::byte> x(n * bytes);
      fill_random(x.data(), n, format, values, kSeed, 3, 2, first);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::uint64_t>(first + i);
        const std::uint32_t word = random_block(kSeed, 3, at / 4).word[at % 4];
        const std::uint64_t expected = stored_bits(format, value_of(values, word));
        std::uint64_t found = 0;
        std::memcpy(&found, x.data() + static_cast<std::size_t>(i) * bytes, bytes);
        std::uint64_t cut = 0;
        std::memcpy(&cut, &expected, bytes);
        ASSERT_EQ(found, cut) << info(format).name << ' ' << i;
      }
    }
  }
}

TEST(Random, ValuesOfAnOperandDependOnSeedStreamAndIndexAlone) {
  const auto indices = [](std::int64_t elements, std::uint64_t seed, std::uint32_t stream,
                          int threads, std::int64_t first) {
    std::vector<std::int32_t> x(static_cast<std::size_t>(elements));
    fill_random(x.data(), elements, Format::int32, integers_below(1000000), seed, stream, threads,
                first);
    return x;
  };
  const auto all = indices(1000, 1, 2, 1, 0);
  EXPECT_EQ(indices(1000, 1, 2, 3, 0), all);
  EXPECT_EQ(indices(100, 1, 2, 1, 400), std::vector(all.begin() + 400, all.begin() + 500));
  EXPECT_NE(indices(1000, 2, 2, 1, 0), all);
  EXPECT_NE(indices(1000, 1, 3, 1, 0), all);
}

}  // namespace
}  // namespace ridgebench
