#include "harness/device/cpu/core_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ridgebench {
namespace {

TEST(CoreClock, IsThatOfAProcessor) {
#if defined(__x86_64__)
  for (const int threads : {1, 2}) {
    // Interrupted, it reads low; never high.
    double highest = 0;
    for (int i = 0; i < 20; ++i) highest = std::max(highest, core_clock_hz(threads).value());
    EXPECT_GT(highest, 0.5e9) << threads;
    EXPECT_LT(highest, 10e9) << threads;
  }
#else
  EXPECT_FALSE(core_clock_hz(1));
#endif
}

}  // namespace
}  // namespace ridgebench
