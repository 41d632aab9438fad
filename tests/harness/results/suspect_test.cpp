// The claim of an isolated kernel's process next to what the measuring process saw.
#include "harness/results/suspect.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_record.hpp"

namespace ridgebench {
namespace {

TEST(DoubtedClaim, IsBelowNineTenthsOfWhatWasSeen) {
  EXPECT_EQ(doubted_claim(0.91, 1.0), std::nullopt);
  EXPECT_EQ(doubted_claim(1.5, 1.0), std::nullopt);
  EXPECT_EQ(doubted_claim(1.2e-3, 3.4e-3),
            "the kernel's process claims 1.2 ms for what took 3.4 ms");
}

TEST(DoubtedClaim, NeedsAnotherProcess) {
  EXPECT_EQ(doubted_claim(1e-9, std::nullopt), std::nullopt);
}

TEST(UncheckedClaim, IsAboveTwiceWhatWasSeen) {
  EXPECT_TRUE(claim_is_unchecked(1.0, 0.0));
  EXPECT_TRUE(claim_is_unchecked(1.0, 0.49));
  EXPECT_FALSE(claim_is_unchecked(1.0, 0.5));
  EXPECT_FALSE(claim_is_unchecked(1.0, 2.0));
  EXPECT_FALSE(claim_is_unchecked(1.0, std::nullopt));
}

// A launch of 1 us that moves 4000 bytes, so 4 GB/s.
Record row_below(double ceiling_bytes_per_s, const std::string& device) {
  Record row = sample_record();
  row.role = Role::kernel;
  row.device = device;
  row.flags = {};
  row.second_look.reset();
  row.roof.emplace().bytes_per_s = ceiling_bytes_per_s;
  return row;
}

TEST(Impossible, IsMoreThanTheMarginOfTheDevice) {
  EXPECT_TRUE(impossible(row_below(3.5e9, "cuda:0"), 1e-6));
  EXPECT_FALSE(impossible(row_below(3.7e9, "cuda:0"), 1e-6));
  EXPECT_TRUE(impossible(row_below(1.9e9, "cpu"), 1e-6));
  EXPECT_FALSE(impossible(row_below(2.1e9, "cpu"), 1e-6)) << "a host is shared";
}

TEST(SlowerOnNewInputs, AllowsMoreWhereAProcessorLearnsTheInputs) {
  const auto slower = [](double ratio, std::int64_t sets) {
    const std::vector<double> new_s(kFewestFreshProbes + kMoreFreshProbes, ratio);
    const std::vector<double> old_s(kLaunchesOnOldInputs, 1);
    return slower_on_new_inputs({.new_inputs_s = new_s, .old_inputs_s = old_s}, 1,
                                slower_factor(0x1p20, sets));
  };
  EXPECT_FALSE(slower(3.9, 7));
  EXPECT_TRUE(slower(4.1, 7));
  EXPECT_FALSE(slower(1.2, 8));
  EXPECT_TRUE(slower(1.3, 8));
}

TEST(SlowerOnNewInputs, IsDecidedByTwoSlowLaunchesOnOldInputs) {
  const auto undecided = [](std::vector<double> new_s, std::vector<double> old_s) {
    return may_be_slower({.new_inputs_s = std::move(new_s), .old_inputs_s = std::move(old_s)}, 1,
                         kSlowerOnNewInputs);
  };
  EXPECT_TRUE(undecided({1.5, 1.6}, {1.1, 9}));
  EXPECT_FALSE(undecided({1.5, 1.6}, {1.3, 9}));
  EXPECT_TRUE(undecided({1.5}, {1.3})) << "another process may have run meanwhile";
  EXPECT_FALSE(undecided({1.5, 1.2}, {1}));
}

}  // namespace
}  // namespace ridgebench
