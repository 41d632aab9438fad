#include "roofline/utilisation.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

const DeviceSpec* h100_spec() { return find_data_sheet("h100-sxm"); }

// 80 % of the bf16 peak for one second.
const Timed kMatmul{.work = {.flops = 0.8 * 989.5e12, .bytes = 1e9}, .time_s = 1};

TEST(Mfu, IsAchievedOverTheDensePeakOfTheFormat) {
  EXPECT_DOUBLE_EQ(*mfu(kMatmul, h100_spec(), Format::bf16), 0.8);
  EXPECT_DOUBLE_EQ(*mfu(kMatmul, h100_spec(), Format::fp8_e4m3), 0.4);
}

TEST(Mfu, IsUnknownOnAHostWithoutFlopsAndForAnAbsentFormat) {
  EXPECT_FALSE(mfu(kMatmul, nullptr, Format::bf16));
  EXPECT_FALSE(mfu(kMatmul, find_data_sheet("a100-80-sxm"), Format::fp8_e4m3));
  EXPECT_FALSE(mfu({.work = {.flops = 0, .bytes = 1}, .time_s = 1}, h100_spec(), Format::bf16));
}

TEST(RoofAtClock, ScalesWithTheClockHeld) {
  const auto peak = peak_at_clock_flops_per_s(h100_spec(), Format::bf16, 1.5e9);
  ASSERT_TRUE(peak);
  EXPECT_DOUBLE_EQ(*peak, 132 * 4096 * 1.5e9);
  EXPECT_DOUBLE_EQ(*fraction_of_roof_at_clock(kMatmul, peak), 0.8 * 989.5e12 / *peak);
}

TEST(RoofAtClock, IsUnknownWithoutAClock) {
  EXPECT_FALSE(peak_at_clock_flops_per_s(h100_spec(), Format::bf16, std::nullopt));
  EXPECT_FALSE(peak_at_clock_flops_per_s(nullptr, Format::bf16, 1e9));
  EXPECT_FALSE(fraction_of_roof_at_clock(kMatmul, std::nullopt));
}

TEST(MeasuredRoof, IsAchievedOverTheLowerOfEngineAndDiagonal) {
  const Roof roof{.peak_flops_per_s = 100, .bandwidth_bytes_per_s = 10};
  const Timed memory_bound{.work = {.flops = 10, .bytes = 10}, .time_s = 2};
  const Timed compute_bound{.work = {.flops = 500, .bytes = 10}, .time_s = 10};
  EXPECT_DOUBLE_EQ(*fraction_of_measured_roof(memory_bound, {.roof = roof}), 0.5);
  EXPECT_DOUBLE_EQ(*fraction_of_measured_roof(compute_bound, {.roof = roof}), 0.5);
}

TEST(MeasuredRoof, JudgesRowsWithoutFlopsByTheirBytes) {
  const Roof roof{.peak_flops_per_s = 100, .bandwidth_bytes_per_s = 10};
  EXPECT_DOUBLE_EQ(
      *fraction_of_measured_roof({.work = {.flops = 0, .bytes = 40}, .time_s = 5}, {.roof = roof}),
      0.8);
  EXPECT_FALSE(fraction_of_measured_roof(kMatmul, {.special_s = 1}));
}

TEST(MeasuredRoof, JudgesByTheSpecialFunctionsWhereTheyTakeLongest) {
  Limits limits{.roof = Roof{.peak_flops_per_s = 100, .bandwidth_bytes_per_s = 10}};
  const Timed row{.work = {.flops = 10, .bytes = 10}, .time_s = 4};
  limits.special_s = 0.9;
  EXPECT_DOUBLE_EQ(*fraction_of_measured_roof(row, limits), 0.25);
  limits.special_s = 3;
  EXPECT_DOUBLE_EQ(*fraction_of_measured_roof(row, limits), 0.75);
}

class RowBound : public ::testing::Test {
 protected:
  Timed row_{.work = {.flops = 100, .bytes = 20}, .time_s = 3};
  Limits limits_{.roof = Roof{.peak_flops_per_s = 100, .bandwidth_bytes_per_s = 10}};
};

TEST_F(RowBound, FollowsTheModel) {
  EXPECT_EQ(row_bound(row_, limits_), Limit::memory);
  row_.work.flops = 300;
  EXPECT_EQ(row_bound(row_, limits_), Limit::compute);
}

TEST_F(RowBound, IsLaunchBelowTenFloors) {
  limits_.launch_floor_s = 0.301;
  EXPECT_EQ(row_bound(row_, limits_), Limit::launch);
  limits_.launch_floor_s = 0.3;
  EXPECT_EQ(row_bound(row_, limits_), Limit::memory);
}

TEST_F(RowBound, IsSpecialWhereSpecialFunctionsTakeLongest) {
  limits_.special_s = 2.1;
  EXPECT_EQ(row_bound(row_, limits_), Limit::special);
  limits_.special_s = 1.9;
  EXPECT_EQ(row_bound(row_, limits_), Limit::memory);
}

TEST_F(RowBound, IsUnknownWithoutARoofUnlessLaunchBound) {
  limits_.roof.reset();
  EXPECT_FALSE(row_bound(row_, limits_));
  limits_.launch_floor_s = 1;
  EXPECT_EQ(row_bound(row_, limits_), Limit::launch);
}

TEST(PhysicsCheck, RefusesMoreThanOnePercentAboveThePins) {
  const Physics physics{.bandwidth_bytes_per_s = 100, .issue_flops_per_s = std::nullopt};
  EXPECT_FALSE(miscounted({.work = {.flops = 0, .bytes = 100.9}, .time_s = 1}, physics));
  const auto reason = miscounted({.work = {.flops = 0, .bytes = 101.1}, .time_s = 1}, physics);
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->rfind("miscounted: ", 0), 0U);
}

TEST(PhysicsCheck, RefusesMoreThanOnePercentAboveTheIssueRate) {
  const Physics physics{.bandwidth_bytes_per_s = std::nullopt, .issue_flops_per_s = 100};
  EXPECT_FALSE(miscounted({.work = {.flops = 100.9, .bytes = 1e6}, .time_s = 1}, physics));
  EXPECT_TRUE(miscounted({.work = {.flops = 101.1, .bytes = 0}, .time_s = 1}, physics));
}

TEST(PhysicsCheck, AllowsAnythingWhereNoLimitIsKnown) {
  EXPECT_FALSE(miscounted({.work = {.flops = 1e30, .bytes = 1e30}, .time_s = 1e-9}, {}));
}

}  // namespace
}  // namespace ridgebench
