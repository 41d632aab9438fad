#include "harness/device/cpu/placement.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
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
  EXPECT_EQ(Placement{30e-9}.where(), Where::one_core);
  EXPECT_EQ((Placement{30e-9, false}.where()), Where::in_place) << "the guest is told of it";
  EXPECT_EQ(Placement{45e-9}.where(), Where::in_place);
  EXPECT_EQ(Placement{75e-9}.where(), Where::in_place);
  EXPECT_EQ(Placement{220e-9}.where(), Where::apart);
}

}  // namespace
}  // namespace ridgebench
