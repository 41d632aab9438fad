#include "kernels/common/cpu/gelu.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/common/gelu_reference.hpp"

namespace ridgebench {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Floats of every sign and exponent, some thousand of each.
TEST(CpuGelu, StaysWithinItsStatedErrorForEveryExponent) {
  double largest = 0;
  for (std::uint64_t bits = 0; bits < 1ULL << 32U; bits += 2039) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(x)) continue;
    // Below the smallest normal number, the last place is no longer relative to the value.
    const double allowed = cpu::kGeluError * gelu_norm(x) + std::numeric_limits<float>::min();
    const double error = std::abs(cpu::gelu(x) - gelu_reference(x));
    ASSERT_LE(error, allowed) << std::hexfloat << x;
    if (std::abs(x) < 16) largest = std::max(largest, error);
  }
  EXPECT_LE(largest, 6e-7);
}

TEST(CpuGelu, KeepsNanAndReachesItsLimits) {
  EXPECT_TRUE(std::isnan(cpu::gelu(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(cpu::gelu(kInf), kInf);
  EXPECT_EQ(cpu::gelu(-kInf), 0.0F);
  EXPECT_EQ(cpu::gelu(0.0F), 0.0F);
  EXPECT_EQ(cpu::gelu(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
  EXPECT_EQ(cpu::gelu(std::numeric_limits<float>::lowest()), 0.0F);
}

TEST(CpuGelu, Exp2IsExactForIntegersAndOverflowsToInfinity) {
  for (int n = -126; n < 128; ++n) {
    EXPECT_EQ(cpu::exp2_clamped(static_cast<float>(n)), std::ldexp(1.0F, n)) << n;
  }
  EXPECT_EQ(cpu::exp2_clamped(128.0F), kInf);
}

}  // namespace
}  // namespace ridgebench
