#include "harness/measure/selection/shape_range.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ShapeRange, APlainShapeStandsForItself) {
  EXPECT_THAT(expand_shape("m:1/n:2/k:3/layout:tn"), ElementsAre("m:1/n:2/k:3/layout:tn"));
  EXPECT_THAT(expand_shape("4k"), ElementsAre("4k"));
}

TEST(ShapeRange, TheFirstDimensionIsOutermost) {
  EXPECT_THAT(expand_shape("m:1,2/n:5/layout:nt,tn"),
              ElementsAre("m:1/n:5/layout:nt", "m:1/n:5/layout:tn", "m:2/n:5/layout:nt",
                          "m:2/n:5/layout:tn"));
}

TEST(ShapeRange, StepsAndFactorsIncludeBothEnds) {
  EXPECT_THAT(expand_shape("n:2..8:3"), ElementsAre("n:2", "n:5", "n:8"));
  EXPECT_THAT(expand_shape("n:2..9:3"), ElementsAre("n:2", "n:5", "n:8"));
  EXPECT_THAT(expand_shape("n:1..8:x2"), ElementsAre("n:1", "n:2", "n:4", "n:8"));
  EXPECT_THAT(expand_shape("7..9"), ElementsAre("7", "8", "9"));
  EXPECT_THAT(expand_shape("1k..4k:x2,100"), ElementsAre("1000", "2000", "4000", "100"));
  EXPECT_THAT(expand_shape("n:5..5:x2"), ElementsAre("n:5"));
}

TEST(ShapeRange, AFactorsSizesAreRoundedAndComeOnce) {
  EXPECT_THAT(expand_shape("n:1..6:x1.5"), ElementsAre("n:1", "n:2", "n:3", "n:5"));
  EXPECT_THAT(expand_shape("n:3,3,1..3"), ElementsAre("n:3", "n:1", "n:2"));
}

TEST(ShapeRange, WhatIsNoRangeIsRefused) {
  for (const char* text : {"n:8..1:2", "n:0..4:1", "n:1..4:0", "n:1..4:x1", "n:1..4:x0",
                           "n:1..4:y2", "n:..4", "n:1..", "n:1..4:", "n:1..4:x", "n:1..nan",
                           "n:1..1e13:x2", "n:1.5..4:1", "n:1..4:-1", "n:1..4:x1e400"}) {
    EXPECT_THAT([&] { expand_shape(text); },
                ThrowsMessage<UsageError>(HasSubstr("is not a range of sizes; allowed:")))
        << text;
  }
}

TEST(ShapeRange, TooManyShapesAreRefused) {
  EXPECT_THAT([] { expand_shape("n:1..20000"); },
              ThrowsMessage<UsageError>(HasSubstr("more than 10000 sizes")));
  EXPECT_THAT([] { expand_shape("m:1..200/n:1..200"); },
              ThrowsMessage<UsageError>(HasSubstr("more than 10000 shapes")));
}

}  // namespace
}  // namespace ridgebench
