#include "kernels/common/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

namespace ridgebench {
namespace {

// Two instances of a last-level cache of 16 MiB.
Machine machine() { return {.units = 4, .caches = {{1, 32 << 10U, 1}, {3, 16 << 20U, 2}}}; }

std::vector<std::int64_t> sizes(Profile profile, Pace pace) {
  std::vector<std::int64_t> result;
  for (const Shape& shape : vector_sweep(profile, pace, machine(), 8)) {
    result.push_back(shape["n"]);
  }
  return result;
}

TEST(Machine, LastLevelCacheCountsTheInstancesThatTheUnitsReach) {
  EXPECT_EQ(machine().last_level_cache_bytes(), 32 << 20U);
  Machine three = machine();
  three.units = 3;  // two units share the first instance, the third has the second
  EXPECT_EQ(three.last_level_cache_bytes(), 32 << 20U);
  three.units = 2;
  EXPECT_EQ(three.last_level_cache_bytes(), 16 << 20U);
  EXPECT_EQ(Machine{}.last_level_cache_bytes(), 32 << 20U);  // unknown
}

TEST(Sweep, DramElementsFillEightCachesAndNoMoreThanTwiceThat) {
  const double wanted = 8.0 * (32 << 20U);
  for (const double bytes : {1.0, 2.0, 3.0, 8.0, 4096.0}) {
    const std::int64_t elements = dram_elements(machine(), bytes);
    EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(elements)));
    EXPECT_GE(static_cast<double>(elements) * bytes, wanted);
    EXPECT_LT(static_cast<double>(elements) * bytes, 2 * wanted);
  }
}

TEST(Sweep, DramElementsOfACacheSharedWithNeighboursAreOneGibibyte) {
  Machine shared = machine();
  shared.caches.back().bytes = std::int64_t{300} << 20U;
  EXPECT_EQ(dram_elements(shared, 8), std::int64_t{1} << 27U);
  EXPECT_EQ(vector_sweep(Profile::quick, Pace::naive, shared, 8).front()["n"], 1 << 21U);
}

TEST(Sweep, QuickIsTheDramSizeAlone) {
  const std::int64_t dram = dram_elements(machine(), 8);
  EXPECT_EQ(sizes(Profile::quick, Pace::fast), std::vector{dram});
  EXPECT_EQ(sizes(Profile::quick, Pace::naive), std::vector{dram / 16});
}

TEST(Sweep, EachProfileExtendsTheOneBefore) {
  for (const Pace pace : {Pace::naive, Pace::fast}) {
    const auto quick = sizes(Profile::quick, pace);
    const auto standard = sizes(Profile::standard, pace);
    const auto full = sizes(Profile::full, pace);
    EXPECT_TRUE(std::equal(quick.begin(), quick.end(), standard.begin()));
    EXPECT_TRUE(std::equal(standard.begin(), standard.end(), full.begin()));
    EXPECT_GE(standard.size(), 3);  // three to five make a curve
    EXPECT_LE(standard.size(), 5);
    EXPECT_GT(full.size(), standard.size());
    EXPECT_EQ(std::set(full.begin(), full.end()).size(), full.size()) << "a size comes twice";
  }
}

TEST(Sweep, ReachesFromDramToTheFirstCache) {
  const auto full = sizes(Profile::full, Pace::fast);
  EXPECT_LT(static_cast<double>(*std::ranges::min_element(full)) * 8, 32 << 10U);
}

TEST(Sweep, SizesAreAtLeastOne) {
  const Machine tiny{.caches = {{1, 64, 1}}};
  for (const Shape& shape : vector_sweep(Profile::full, Pace::fast, tiny, 8)) {
    EXPECT_GE(shape["n"], 1);
  }
}

TEST(Sweep, RowsFillTheSameMemoryAsVectors) {
  constexpr std::int64_t kColumns = 4096;
  for (const Pace pace : {Pace::naive, Pace::fast}) {
    const std::int64_t elements = vector_sweep(Profile::quick, pace, machine(), 8).front()["n"];
    const std::vector<Shape> quick = row_sweep(Profile::quick, pace, machine(), 8, kColumns);
    EXPECT_EQ(quick, std::vector{Shape({{"m", elements / kColumns}, {"n", kColumns}})});
    const std::vector<Shape> full = row_sweep(Profile::full, pace, machine(), 8, kColumns);
    for (const Profile profile : {Profile::quick, Profile::standard}) {
      const std::vector<Shape> shapes = row_sweep(profile, pace, machine(), 8, kColumns);
      EXPECT_TRUE(std::equal(shapes.begin(), shapes.end(), full.begin()));
      EXPECT_LT(shapes.size(), full.size());
    }
    for (const Shape& shape : full) EXPECT_LE(shape["m"] * shape["n"], elements) << shape.text();
  }
  EXPECT_TRUE(row_sweep(Profile::lecture, Pace::fast, machine(), 8, kColumns).empty());
  const Machine tiny{.caches = {{1, 64, 1}}};
  EXPECT_EQ(row_sweep(Profile::quick, Pace::naive, tiny, 8, kColumns).front()["m"], 1);
}

}  // namespace
}  // namespace ridgebench
