#include <gmock/gmock.h>

#include <array>
#include <sstream>

#include "harness/cli/duel/table.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(std::optional<bool> first, std::optional<bool> second) {
  DuelRecord duel;
  duel.op = "matmul";
  duel.shape = Shape({{"m", 64}, {"n", 64}, {"k", 64}}, Layout::nt);
  duel.first.technique = "persistent";
  duel.first.early = first;
  duel.second.technique = "library";
  duel.second.early = second;
  std::ostringstream out;
  print_duels(out, std::array{duel});
  return out.str();
}

TEST(DuelTable, SaysWhereTheLaunchesOfOnlyOneSideOverlap) {
  EXPECT_THAT(printed(true, false),
              HasSubstr("launches may overlap, persistent: yes, library: no"));
  EXPECT_THAT(printed(true, std::nullopt), HasSubstr("persistent: yes, library: unknown"));
  EXPECT_THAT(printed(true, true), Not(HasSubstr("overlap")));
  EXPECT_THAT(printed(false, false), Not(HasSubstr("overlap")));
}

}  // namespace
}  // namespace ridgebench
