#include "harness/cli/duel/table.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace ridgebench {
namespace {

using testing::HasSubstr;
using testing::Not;

DuelRecord timed(double log_ratio) {
  DuelRecord duel;
  duel.id = "relu/a:b/fp32/n:8/steady@sim";
  duel.op = "relu";
  duel.format = Format::fp32;
  duel.shape = Shape({{"n", 8}});
  duel.status = Status::ok;
  duel.first.technique = "a";
  duel.second.technique = "b";
  duel.first.early = duel.second.early = false;
  duel.short_scale = DuelScale{
      .block_s = 0.006, .quads = 5, .seconds = ratio_of(std::vector<double>(5, log_ratio))};
  return duel;
}

std::string table(const std::vector<DuelRecord>& duels) {
  std::ostringstream out;
  print_duels(out, duels);
  return out.str();
}

TEST(DuelTable, ShowsRatioIntervalAndVerdict) {
  const std::string text = table({timed(-0.01), timed(0.01)});
  EXPECT_THAT(text, HasSubstr("a      b       fp32    n:8    faster   0.9900  0.9900 to 0.9900\n"));
  EXPECT_THAT(text, HasSubstr("a      b       fp32    n:8    slower   1.0101  1.0101 to 1.0101\n"));
  EXPECT_THAT(text, Not(HasSubstr("one clock"))) << "a column without any text is left out";
}

TEST(DuelTable, SaysHowMuchLongerAnUndecidedDuelWouldTake) {
  DuelRecord duel = timed(0);
  EXPECT_THAT(table({duel}), Not(HasSubstr("would decide"))) << "it is decided";
  duel.short_scale->seconds = ratio_of({0.015, 0.025, 0.02, 0.03, 0.01});
  EXPECT_THAT(table({duel}), HasSubstr("relu fp32 n:8: undecided; about "));
  EXPECT_THAT(table({duel}), HasSubstr(" times --seconds would decide\n"));
  duel.processes = 5;
  EXPECT_THAT(table({duel}), HasSubstr(" times --seconds and --processes would decide\n"));
}

TEST(DuelTable, ShowsCyclesAndJoulesWhereTheyAreKnown) {
  DuelRecord duel = timed(0.02);
  duel.short_scale->cycles = ratio_of(std::vector<double>(5, 0));
  duel.first.energy_per_launch_j = 1.25;
  duel.second.energy_per_launch_j = 1.5;
  const std::string text = table({duel});
  EXPECT_THAT(text, HasSubstr("same          1.0000  1.0000 to 1.0000"));
  EXPECT_THAT(text, HasSubstr("  1.25     1.5\n"));
  duel.first.set_energy({1.2, 1.24, 1.25, 1.26, 1.3});
  EXPECT_THAT(table({duel}), HasSubstr("  1.25 (1.215 to 1.286)  1.5\n"));
}

// At the cap, the power that each draws decides the time, and only long blocks contain it.
TEST(DuelTable, SaysInTimeOnlyWhereTheLongScaleMeasuredIt) {
  DuelRecord duel = timed(-0.02);
  duel.short_scale->cycles = ratio_of(std::vector<double>(5, -0.03));
  duel.power_settles = true;
  EXPECT_EQ(duel.verdict_in_time(), std::nullopt);
  EXPECT_THAT(table({duel}), HasSubstr("not measured"));
  EXPECT_THAT(table({duel}), Not(HasSubstr("0.9802"))) << "seconds at one clock";
  EXPECT_THAT(table({duel}), HasSubstr("faster        0.9704"));
  duel.long_scale = DuelScale{.quads = 4, .seconds = ratio_of(std::vector<double>(8, 0.02))};
  EXPECT_EQ(duel.verdict_in_time(), Verdict::slower);
  EXPECT_THAT(table({duel}), HasSubstr("slower   1.0202"));
}

TEST(DuelTable, ShowsBothHalvesOfARatioThatDependsOnTheClock) {
  std::vector<double> logs(40, -0.02);
  std::vector<double> clocks(40, 1.98e9);
  for (std::size_t i = 0; i < 40; ++i) {
    logs[i] += 1e-4 * static_cast<double>(i % 3);
    if (i >= 20) {
      logs[i] += 0.04;
      clocks[i] = 1.5e9;
    }
  }
  DuelRecord duel = timed(0);
  duel.short_scale->seconds = ratio_of(logs, RatioRule::blocked, clocks);
  EXPECT_FALSE(duel.short_scale->seconds.ratio.has_value()) << "the mixture is not a ratio";
  const std::string text = table({duel});
  EXPECT_THAT(text, HasSubstr("undecided  depends on the clock\n"));
  EXPECT_THAT(
      text,
      HasSubstr("relu fp32 n:8: the ratio of seconds depends on the clock; at 1980 MHz 0.98"));
  EXPECT_THAT(text, HasSubstr(", faster, 20 quads; at 1500 MHz 1.02"));
  EXPECT_THAT(text, HasSubstr(", slower, 20 quads\n"));
}

TEST(DuelTable, MarksTheSidesWhoseLaunchesStartEarly) {
  DuelRecord duel = timed(0);
  EXPECT_THAT(table({duel}), Not(HasSubstr("early")));
  duel.first.early = true;
  EXPECT_THAT(table({duel}), HasSubstr("1.0000 to 1.0000  first\n"));
  duel.second.early = true;
  EXPECT_THAT(table({duel}), HasSubstr("1.0000 to 1.0000  both\n"));
}

TEST(DuelTable, SaysWhereCachesMayServeBothSides) {
  DuelRecord duel = timed(0);
  EXPECT_THAT(table({duel}), Not(HasSubstr("caches")));
  duel.flags = {"short_rotation"};
  EXPECT_THAT(table({duel}), HasSubstr("relu fp32 n:8: short_rotation, the buffer sets move too "
                                       "few bytes to empty the caches\n"));
}

TEST(DuelTable, SaysWhereTheLaunchesOfOnlyOneSideOverlap) {
  const auto printed = [](std::optional<bool> first, std::optional<bool> second) {
    DuelRecord duel = timed(0);
    duel.first.early = first;
    duel.second.early = second;
    return table({duel});
  };
  EXPECT_THAT(printed(true, false), HasSubstr("launches may overlap, a: yes, b: no"));
  EXPECT_THAT(printed(true, std::nullopt), HasSubstr("a: yes, b: unknown"));
  EXPECT_THAT(printed(true, true), Not(HasSubstr("overlap")));
  EXPECT_THAT(printed(false, false), Not(HasSubstr("overlap")));
}

TEST(DuelTable, NamesReasonChoiceAndWhatHoldsALibraryBack) {
  DuelRecord duel = timed(0);
  duel.first.choice = "tile 128 x 256";
  duel.second.held_back_by = "OPENBLAS_CORETYPE=Prescott";
  DuelRecord skipped = timed(0);
  skipped.short_scale.reset();
  skipped.status = Status::skipped;
  skipped.reason = "a: n must be even";
  const std::string text = table({duel, skipped});
  EXPECT_THAT(text, HasSubstr("\nrelu fp32 n:8: a chose tile 128 x 256\n"));
  EXPECT_THAT(text, HasSubstr("\nrelu fp32 n:8: b is held back by OPENBLAS_CORETYPE=Prescott\n"));
  EXPECT_THAT(text, HasSubstr("\nrelu/a:b/fp32/n:8/steady@sim: a: n must be even\n"));
  EXPECT_THAT(text, HasSubstr("  skipped\n"));
}

TEST(DuelTable, OfTooFewQuadsSaysSo) {
  DuelRecord duel = timed(0);
  duel.short_scale->seconds = ratio_of({0, 0});
  EXPECT_THAT(table({duel}), HasSubstr("undecided  too few quads\n"));
}

}  // namespace
}  // namespace ridgebench
