// Powers of two of host kernels against those of the C library in double.
#include "kernels/common/cpu/exp2.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgebench::cpu {
namespace {

TEST(Exp2OfNegative, KeepsItsStatedError) {
  constexpr int kArguments = 1 << 20;
  double largest = 0;
  for (int i = 0; i < kArguments; ++i) {
    const float t = -126.0F * static_cast<float>(i) / kArguments;
    const double exact = std::exp2(static_cast<double>(t));
    largest = std::max(largest, std::abs(exp2_of_negative(t) - exact) / exact);
  }
  EXPECT_LT(largest, kExp2Error);
  EXPECT_GT(largest, kExp2Error / 2) << "the constant says more than it needs to";
}

TEST(Exp2OfNegative, GoesToZeroInStepsOfSubnormalNumbers) {
  constexpr double kStep = 0x1p-149;
  for (float t = -126; t > -160; t -= 0.37F) {
    const double exact = std::exp2(static_cast<double>(t));
    EXPECT_NEAR(exp2_of_negative(t), exact, kStep / 2 + kExp2Error * exact) << t;
  }
  const float inputs[] = {-200, -300, -1e6F, std::numeric_limits<float>::lowest(),
                          -std::numeric_limits<float>::infinity()};
  for (const float t : inputs) EXPECT_EQ(exp2_of_negative(t), 0) << t;
  EXPECT_EQ(exp2_of_negative(0), 1);
  EXPECT_TRUE(std::isnan(exp2_of_negative(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace ridgebench::cpu
