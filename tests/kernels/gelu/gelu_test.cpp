#include "tests/support/elementwise.hpp"

namespace ridgebench {
namespace {

TEST(Gelu, EveryHostTechniqueIsRightAtAwkwardSizesAndAlignments) {
  expect_right_at_awkward_sizes_and_alignments("gelu", false);
}

TEST(Gelu, NanStaysNanAndOnlyThere) { expect_nan_stays_nan_and_only_there("gelu"); }

}  // namespace
}  // namespace ridgebench
