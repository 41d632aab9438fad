#include <gtest/gtest.h>

#include <cstddef>

#include "harness/base/statistics.hpp"
#include "tests/harness/base/synthetic_samples.hpp"

namespace ridgebench {
namespace {

// Returns the share of trials whose interval contains 1, the true median of every generator here.
double coverage(const Generator& generate, std::size_t count, double tick_s = 0) {
  return share(generate, count, 1000, [=](const Samples& samples) {
    const Summary summary = summarize(samples, tick_s);
    return summary.ci_low <= 1 && 1 <= summary.ci_high;
  });
}

TEST(Coverage, OfIndependentSamples) {
  for (const NamedGenerator& noise : independent_noise()) {
    for (const std::size_t count : {7U, 12U, 30U, 200U}) {
      const double covered = coverage(noise.generate, count);
      EXPECT_GE(covered, 0.93) << noise.name << " n = " << count;
      EXPECT_LE(covered, 0.995) << noise.name << " n = " << count;
    }
  }
}

TEST(Coverage, OfCorrelatedSamples) {
  for (const std::size_t count : {17U, 30U, 120U, 500U}) {
    const double covered =
        coverage([](auto n, auto& random) { return normal_samples(n, random, 0.05, 0.6); }, count);
    EXPECT_GE(covered, 0.93) << "n = " << count;
    EXPECT_LE(covered, 0.995) << "n = " << count;
  }
}

TEST(Coverage, OfSamplesRoundedToTicks) {
  const auto fine = [](auto n, auto& random) {
    return rounded_to(0.007, normal_samples(n, random, 0.05));
  };
  const auto coarse = [](auto n, auto& random) {
    return rounded_to(0.07, normal_samples(n, random, 0.05));
  };
  for (const std::size_t count : {30U, 200U}) {
    EXPECT_GE(coverage(fine, count, 0.007), 0.93) << "n = " << count;
    EXPECT_LE(coverage(fine, count, 0.007), 0.995) << "n = " << count;
    EXPECT_GE(coverage(coarse, count, 0.07), 0.93) << "n = " << count;
    // 1 lies between two ticks. Without the half tick, the interval misses it.
    EXPECT_LE(coverage(coarse, count, 0), 0.90) << "n = " << count;
  }
}

}  // namespace
}  // namespace ridgebench
