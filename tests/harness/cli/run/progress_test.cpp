// What a run writes to a log while it goes on.
#include "harness/cli/run/progress.hpp"

#include <gmock/gmock.h>

namespace ridgebench {
namespace {

std::string logged(double interval_s, std::size_t updates) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(4, interval_s);
    for (std::size_t done = 1; done <= updates; ++done) progress.update(done, "relu/naive\n");
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(Progress, ALogGetsPlainLinesWithTheTimeLeft) {
  EXPECT_THAT(logged(0, 2),
              ::testing::MatchesRegex("1/4 cases, [0-9]+ s left  relu/naive[^\n]+\n"
                                      "2/4 cases, [0-9]+ s left  relu/naive[^\n]+\n"));
}

TEST(Progress, ALogGetsNoLineBeforeTheInterval) { EXPECT_EQ(logged(3600, 4), ""); }

}  // namespace
}  // namespace ridgebench
