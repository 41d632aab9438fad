// The outlier rule of a node, by numbers that were calculated by hand.
#include "harness/cli/node/outlier.hpp"

#include <gmock/gmock.h>

namespace ridgebench::node {
namespace {

using Rates = std::vector<std::optional<double>>;

// Seven rates around 100 whose median is 100 and whose MAD is 0.5 together with an eighth below.
Rates with(double eighth) { return {100.5, 100.5, 100, 100, 100, 99.5, 99.5, eighth}; }

TEST(Outlier, ZIsTheDistanceInMadOfANormalVariable) {
  const auto found = peer_ratios(with(92));
  // Sorted: 92 99.5 99.5 100 100 100 100.5 100.5; the distances 0 0 0 .5 .5 .5 .5 8.
  EXPECT_DOUBLE_EQ(found[7]->of_median, 0.92);
  EXPECT_NEAR(*found[7]->z, 0.6745 * -8 / 0.5, 1e-9);
  EXPECT_EQ(found[7]->odd, Oddness::slow);
  EXPECT_TRUE(found[7]->far());
  for (int i = 0; i < 7; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)]->odd, Oddness::none);
}

TEST(Outlier, AFewPercentAreSlowButNotFar) {
  const auto found = peer_ratios(with(96));
  EXPECT_EQ(found[7]->odd, Oddness::slow);
  EXPECT_FALSE(found[7]->far());
}

TEST(Outlier, AFastGpuIsOddToo) { EXPECT_EQ(peer_ratios(with(104))[7]->odd, Oddness::fast); }

TEST(Outlier, ThreePercentBoundEvenALargeZ) {
  const auto found = peer_ratios(with(97.1));
  EXPECT_LT(*found[7]->z, -kOddZ);
  EXPECT_EQ(found[7]->odd, Oddness::none);
}

TEST(Outlier, ASmallZBoundsEvenALargeDistance) {
  const auto found = peer_ratios(Rates{90, 94, 98, 100, 102, 106, 110, 88});
  for (const auto& place : found) EXPECT_EQ(place->odd, Oddness::none);
}

TEST(Outlier, EqualRatesLeaveNoMad) {
  const auto found = peer_ratios(Rates{1, 1, 1, 1, 1, 1, 1, 0.9});
  EXPECT_EQ(*found[0]->z, 0);
  EXPECT_EQ(found[7]->odd, Oddness::slow);
}

TEST(Outlier, SevenGpusGetNoVerdict) {
  const auto found = peer_ratios(Rates{100, 100, 100, 100, 100, 100, 92});
  EXPECT_FALSE(found[6]->z);
  EXPECT_EQ(found[6]->odd, Oddness::differs);
  EXPECT_TRUE(found[6]->far());
  EXPECT_EQ(found[0]->odd, Oddness::none);
}

TEST(Outlier, AMissingRateCountsForNothing) {
  const auto found = peer_ratios(Rates{100, {}, 100, 92});
  EXPECT_FALSE(found[1]);
  EXPECT_EQ(found[3]->odd, Oddness::differs);
  EXPECT_TRUE(peer_ratios(Rates{}).empty());
}

TEST(Outlier, TheMedianOfAnEvenNumberIsAMean) {
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({3, 1, 2}), 2);
}

}  // namespace
}  // namespace ridgebench::node
