#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "harness/base/statistics.hpp"
#include "tests/harness/base/synthetic_samples.hpp"

namespace ridgebench {
namespace {

TEST(Flags, RefuseWhatIsNoTime) {
  EXPECT_THROW(stable_median(Samples{1, 1, std::numeric_limits<double>::infinity()}),
               std::invalid_argument);
  EXPECT_THROW(drifting(Samples{-1}), std::invalid_argument);
  EXPECT_THROW(bimodal(Samples{-1}), std::invalid_argument);
}

TEST(Flags, IgnoreTheUnitOfTime) {
  Random random(3);
  const Samples drift = with_drift(0.05, normal_samples(100, random, 0.01));
  const Samples modes = with_second_mode(0.08, 0.4, normal_samples(100, random, 0.01), random);
  EXPECT_TRUE(drifting(scaled(1e-6, drift)));
  EXPECT_FALSE(bimodal(scaled(1e-6, drift)));
  EXPECT_TRUE(bimodal(scaled(1e-6, modes)));
  EXPECT_FALSE(drifting(scaled(1e-6, modes)));
}

TEST(Drifting, NeedsATrendOfOnePercent) {
  EXPECT_FALSE(drifting(Samples{}));
  EXPECT_FALSE(drifting(with_drift(0.5, Samples(6, 1.0))));
  EXPECT_TRUE(drifting(with_drift(0.5, Samples(7, 1.0))));
  EXPECT_TRUE(drifting(with_drift(-0.5, Samples(7, 1.0))));
  EXPECT_TRUE(drifting(with_drift(0.02, Samples(1000, 1.0))));
  EXPECT_FALSE(drifting(with_drift(0.005, Samples(1000, 1.0))));
  EXPECT_FALSE(drifting(Samples(1000, 1.0)));
}

TEST(Bimodal, NeedsTwoSeparateLevelsOfAFifth) {
  Samples samples(40, 1.0);
  EXPECT_FALSE(bimodal(samples));
  std::fill_n(samples.begin(), 6, 1.1);
  EXPECT_FALSE(bimodal(samples));  // outliers
  std::fill_n(samples.begin(), 8, 1.1);
  EXPECT_TRUE(bimodal(samples));
  std::fill_n(samples.begin(), 8, 1.015);
  EXPECT_FALSE(bimodal(samples));  // two ticks of one level: closer than 2 %
}

TEST(Bimodal, IsSilentWhereItCannotTell) {
  EXPECT_FALSE(bimodal(Samples{}));
  Samples samples(29, 1.0);
  std::fill_n(samples.begin(), 14, 2.0);
  EXPECT_FALSE(bimodal(samples));
  samples.push_back(2.0);
  EXPECT_TRUE(bimodal(samples));
  samples[20] = 0;
  EXPECT_FALSE(bimodal(samples));
}

TEST(Drifting, RarelySeesATrendInNoise) {
  for (const NamedGenerator& noise : independent_noise()) {
    for (const std::size_t count : {7U, 30U, 60U, 500U}) {
      EXPECT_LE(share(noise.generate, count, 400, drifting), 0.01) << noise.name << " " << count;
    }
  }
  const auto wandering = [](auto n, auto& random) { return normal_samples(n, random, 0.05, 0.6); };
  EXPECT_LE(share(wandering, 500, 400, drifting), 0.01);
  EXPECT_LE(share(wandering, 100, 400, drifting), 0.03);
}

TEST(Drifting, FindsATrendInNoise) {
  const auto ramp = [](auto n, auto& random) {
    return with_drift(0.05, normal_samples(n, random, 0.01));
  };
  EXPECT_GE(share(ramp, 30, 400, drifting), 0.85);
  EXPECT_GE(share(ramp, 120, 400, drifting), 0.99);
  EXPECT_GE(share(ramp, 1000, 100, drifting), 0.99);
}

TEST(Bimodal, RarelySeesTwoLevelsInNoise) {
  for (const NamedGenerator& noise : independent_noise()) {
    for (const std::size_t count : {30U, 60U, 500U}) {
      EXPECT_LE(share(noise.generate, count, 1000, bimodal), 0.01) << noise.name << " " << count;
    }
  }
  const auto ramp = [](auto n, auto& random) {
    return with_drift(0.2, normal_samples(n, random, 0.01));
  };
  EXPECT_LE(share(ramp, 120, 400, bimodal), 0.01);  // a drift is not two levels
}

TEST(Bimodal, FindsTwoLevelsInNoise) {
  const auto modes = [](auto n, auto& random) {
    return with_second_mode(0.08, 0.4, normal_samples(n, random, 0.01), random);
  };
  EXPECT_GE(share(modes, 30, 400, bimodal), 0.98);
  EXPECT_GE(share(modes, 500, 100, bimodal), 0.99);
  const auto glitched = [&](auto n, auto& random) {
    return with_second_mode(1.0, 0.03, modes(n, random), random);
  };
  EXPECT_GE(share(glitched, 120, 400, bimodal), 0.90);
}

}  // namespace
}  // namespace ridgebench
