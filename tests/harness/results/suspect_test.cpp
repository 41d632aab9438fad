// The claim of an isolated kernel's process next to what the measuring process saw.
#include "harness/results/suspect.hpp"

#include <gtest/gtest.h>

namespace ridgebench {
namespace {

TEST(DoubtedClaim, IsBelowNineTenthsOfWhatWasSeen) {
  EXPECT_EQ(doubted_claim(0.91, 1.0), std::nullopt);
  EXPECT_EQ(doubted_claim(1.5, 1.0), std::nullopt);
  EXPECT_EQ(doubted_claim(1.2e-3, 3.4e-3),
            "the kernel's process claims 1.2 ms for what took 3.4 ms");
}

TEST(DoubtedClaim, NeedsAnotherProcess) {
  EXPECT_EQ(doubted_claim(1e-9, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace ridgebench
