#include "kernels/common/number.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

TEST(Number, HasExponentsAndSuffixes) {
  EXPECT_EQ(parse_number("4096"), 4096);
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_number("1e6"), 1e6);
  EXPECT_EQ(parse_number("1E+06"), 1e6);
  EXPECT_EQ(parse_number("4k"), 4000);
  EXPECT_EQ(parse_number("4K"), 4000);
  EXPECT_EQ(parse_number("1M"), 1e6);
  EXPECT_EQ(parse_number("70B"), 70e9);
  EXPECT_EQ(parse_number("70b"), 70e9);
  EXPECT_EQ(parse_number("2G"), 2e9);
  EXPECT_EQ(parse_number("15T"), 15e12);
  EXPECT_EQ(parse_number("-1"), -1);
}

TEST(Number, IsTheDoubleNearestToTheText) {
  EXPECT_EQ(parse_number("1e23"), 1e23);
  EXPECT_EQ(parse_number("0.3k"), 300);
  EXPECT_EQ(parse_number("8.03B"), 8.03e9);
  EXPECT_EQ(parse_fraction("40%"), 0.4);
  EXPECT_EQ(parse_fraction("74.85%"), 0.7485);
}

TEST(Number, OtherTextIsNone) {
  for (const char* text :
       {"",     "k",     "e3", "1e", "1e3k", "1kk",   "1m",    "0x10", "nan",   "inf",
        "-inf", "1e999", "1 ", " 1", "+1",   "1,000", "4096x", "--1",  "1.2.3", "%"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
    EXPECT_EQ(parse_fraction(text), std::nullopt) << text;
  }
}

TEST(Number, OnlyAFractionHasPercent) {
  EXPECT_EQ(parse_number("40%"), std::nullopt);
  EXPECT_EQ(parse_fraction("0.4"), 0.4);
  EXPECT_EQ(parse_fraction("4k%"), std::nullopt);
  EXPECT_EQ(parse_fraction("4e1%"), std::nullopt);
}

}  // namespace
}  // namespace ridgebench
