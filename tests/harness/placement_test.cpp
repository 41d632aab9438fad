#include "harness/placement.hpp"

#include <gtest/gtest.h>

namespace ridgepoint {
namespace {

TEST(CoreToCore, IsNothingForASingleThread) { EXPECT_EQ(core_to_core_s(1), 0); }

TEST(CoreToCore, EndsForAnyTeamEvenWhereThreadsMustShareAProcessor) {
  for (const int threads : {2, 3, 5}) {
    const double seconds = core_to_core_s(threads);
    EXPECT_GT(seconds, 1e-9) << threads;
    EXPECT_LT(seconds, 1) << threads;
  }
}

TEST(Placement, IsToldByHowFastThreadsHandOver) {
  EXPECT_TRUE(Placement{30e-9}.stacked());
  EXPECT_FALSE((Placement{30e-9, false}.stacked())) << "the guest is told that they share a core";
  for (const double in_place : {45e-9, 75e-9}) {
    EXPECT_FALSE(Placement{in_place}.stacked());
    EXPECT_FALSE(Placement{in_place}.apart());
  }
  EXPECT_TRUE(Placement{220e-9}.apart());
}

}  // namespace
}  // namespace ridgepoint
