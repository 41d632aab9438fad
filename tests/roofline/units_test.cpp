#include "roofline/units.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

TEST(Units, TimesAndRatesHaveAPrefixAndFourDigits) {
  EXPECT_EQ(with_unit(3.734e-4, "s"), "373.4 us");
  EXPECT_EQ(with_unit(1.2e-9, "s"), "1.2 ns");
  EXPECT_EQ(with_unit(0.0125, "s"), "12.5 ms");
  EXPECT_EQ(with_unit(90, "s"), "90 s");
  EXPECT_EQ(with_unit(989.5e12, "FLOP/s"), "989.5 TFLOP/s");
  EXPECT_EQ(with_unit(3.35e12, "B/s"), "3.35 TB/s");
  EXPECT_EQ(with_unit(506.6e15, "FLOP/s"), "506.6 PFLOP/s");
  EXPECT_EQ(with_unit(512, "B"), "512 B");
}

TEST(Units, ThePrefixFollowsTheRoundedValue) {
  EXPECT_EQ(with_unit(999.99e12, "FLOP/s"), "1 PFLOP/s");
  EXPECT_EQ(with_unit(0.99999e-6, "s"), "1 us");
}

TEST(Units, OtherUnitsAndValuesBeyondAllPrefixesStandAsTheyAre) {
  EXPECT_EQ(with_unit(295.373, "FLOP/B"), "295.4 FLOP/B");
  EXPECT_EQ(with_unit(6.3e24, "FLOP"), "6.3e+24 FLOP");
  EXPECT_EQ(with_unit(0, "s"), "0 s");
  EXPECT_EQ(with_unit(1e-12, "s"), "1e-12 s");
}

TEST(Units, CountsAreWrittenAsTheCommandLineTakesThem) {
  EXPECT_EQ(count_text(12345), "12345");
  EXPECT_EQ(count_text(53.333e9), "53.33B");
  EXPECT_EQ(count_text(15e12), "15T");
}

}  // namespace
}  // namespace ridgebench
