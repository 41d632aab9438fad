// What the ceilings in int8 count, how large their sums are, and in which profiles they are.
#include "kernels/ceilings/sweep/int8.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

Machine int8_gpu(int compute_capability = 90) {
  Machine machine;
  machine.units = 132;
  machine.compute_capability = compute_capability;
  return machine;
}

const Operation& int8_ceiling(std::string_view name) {
  return Registry::instance().operation(name);
}

TEST(Int8Ceilings, AreRoofsOfTheirFormatInStandardAndFullOfGpusOnly) {
  for (const std::string_view name : {"tensor_int8_peak", "wgmma_int8_peak"}) {
    const Operation& op = int8_ceiling(name);
    EXPECT_EQ(op.formats, std::vector<FormatPair>{Format::int8}) << name;
    EXPECT_FALSE(op.ceiling->sweep) << name;
    EXPECT_TRUE(op.shapes(Profile::quick, Pace::fast, int8_gpu()).empty()) << name;
    EXPECT_TRUE(op.shapes(Profile::full, Pace::fast, Machine{}).empty()) << name;
    for (const Profile profile : {Profile::standard, Profile::full}) {
      const std::vector<Shape> shapes = op.shapes(profile, Pace::fast, int8_gpu());
      ASSERT_EQ(shapes.size(), 1U) << name;
      const double clocks = op.flops(shapes.front()) / int8_gpu().units / 8192;
      EXPECT_GT(clocks, 1e6) << name;
      EXPECT_LT(clocks, 1e7) << name;
    }
  }
}

TEST(Int8Ceilings, HaveTwiceTheRateOf16Bits) {
  const auto most = int8_ceiling("tensor_int8_peak").ceiling->most_per_clock;
  EXPECT_EQ(most(int8_gpu(75), Format::int8), 0);
  EXPECT_EQ(most(int8_gpu(80), Format::int8), 4096);
  EXPECT_EQ(most(int8_gpu(89), Format::int8), 2048);
  EXPECT_EQ(most(int8_gpu(90), Format::int8), 8192);
  EXPECT_EQ(most(int8_gpu(100), Format::int8), 16384);
  EXPECT_EQ(most(Machine{}, Format::int8), 0);
}

TEST(Int8Ceilings, ProductsAreAddedUpInInt32AndStayInside) {
  const Operation& op = int8_ceiling("wgmma_int8_peak");
  const Shape shape = op.shapes(Profile::full, Pace::fast, int8_gpu()).front();
  EXPECT_EQ(op.operands(shape, Format::int8)[2].format, Format::int32);
  const std::vector<std::uint8_t> least(static_cast<std::size_t>(256 * shape["k"]), 0x80);
  const std::vector<View> in{{least.data(), Format::int8}, {least.data(), Format::int8}};
  std::vector<Expected> out(1);
  op.reference(shape, 0, in, out);
  EXPECT_EQ(out[0].value, 128.0 * 128.0 * static_cast<double>(shape["k"] * shape["iterations"]));
  EXPECT_LT(out[0].value, 0x1p31);
}

}  // namespace
}  // namespace ridgebench
