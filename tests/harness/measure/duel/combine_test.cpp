// A process is one observation of a duel: what differs between processes must show in the interval.
#include "harness/measure/duel/combine.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace ridgebench {
namespace {

using testing::HasSubstr;

// Processes whose quads scatter by 0.1 %, around a log ratio that scatters between processes.
std::vector<DuelRecord> processes_of(double log_ratio, double between, std::uint64_t seed,
                                     int count = 40) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> process(log_ratio, between);
  std::normal_distribution<double> quad(0, 1e-3);
  std::vector<DuelRecord> processes(static_cast<std::size_t>(count));
  for (DuelRecord& record : processes) {
    record.status = Status::ok;
    record.first.time_s = 1;
    record.second.time_s = 2;
    const double location = process(random);
    std::vector<double> quads(20);
    for (double& one : quads) one = location + quad(random);
    record.short_scale = DuelScale{.block_s = 6e-3, .quads = 20, .seconds = ratio_of(quads)};
  }
  return processes;
}

TEST(CombinedDuel, HasOneLogRatioPerProcess) {
  const std::vector<DuelRecord> processes = processes_of(0.1, 0, 1, 7);
  const DuelRecord duel = combine(processes);
  EXPECT_EQ(duel.status, Status::ok);
  EXPECT_EQ(duel.processes, 7);
  EXPECT_EQ(duel.short_scale->quads, 140);
  ASSERT_EQ(duel.short_scale->seconds.log_ratios.size(), 7U);
  for (const double log : duel.short_scale->seconds.log_ratios) EXPECT_NEAR(log, 0.1, 1e-3);
  EXPECT_EQ(duel.first.time_s, 1.0);
  EXPECT_EQ(duel.second.time_s, 2.0);
  EXPECT_FALSE(duel.short_scale->cycles || duel.long_scale || duel.first.energy_per_launch_j);
}

// Each process alone is sure, because its quads hardly scatter, and half of them say the opposite.
TEST(CombinedDuel, EqualTechniquesThatDifferBetweenProcessesGetNoVerdict) {
  int sure = 0;
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const std::vector<DuelRecord> processes = processes_of(0, 0.03, seed);
    for (const DuelRecord& one : processes) sure += one.verdict() != Verdict::undecided ? 1 : 0;
    const Verdict verdict = combine(processes).verdict().value();
    wrong += verdict == Verdict::faster || verdict == Verdict::slower ? 1 : 0;
  }
  EXPECT_GT(sure, 500 * 40 * 9 / 10);
  EXPECT_EQ(wrong, 0);
}

TEST(CombinedDuel, ADifferenceBeyondThatOfProcessesIsFound) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const DuelRecord faster = combine(processes_of(-0.05, 0.03, seed));
    EXPECT_EQ(faster.verdict(), Verdict::faster) << seed;
    EXPECT_NEAR(faster.short_scale->seconds.ratio.value(), std::exp(-0.05), 0.03) << seed;
  }
}

TEST(CombinedDuel, OfFewProcessesIsUndecided) {
  EXPECT_EQ(combine(processes_of(-0.5, 0, 1, 4)).verdict(), Verdict::undecided);
}

// A process that met both clocks: the first technique is 2 % slower at full clock and 28 % faster
// at the cap.
DuelRatio at_two_clocks() {
  std::vector<double> logs(40, 0.02);
  std::vector<double> clocks(40, 1.98e9);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] += 1e-4 * static_cast<double>(i % 3);
    if (i < 20) continue;
    logs[i] -= 0.3;
    clocks[i] = 1.5e9;
  }
  return ratio_of(logs, RatioRule::blocked, clocks);
}

// The mixture of two clocks would be no ratio, and a ratio at full clock is not that of a duel
// which met the cap.
TEST(CombinedDuel, HasARatioOfEachPowerStateIfThatOfOneProcessDependsOnTheClock) {
  std::vector<DuelRecord> processes = processes_of(0, 0, 1, 7);
  for (DuelRecord& one : processes) one.short_scale->clock_hz.assign(20, 1.97e9);
  processes[5].short_scale->clock_hz.assign(20, 1.52e9);
  processes[3].short_scale->seconds = at_two_clocks();
  ASSERT_TRUE(processes[3].short_scale->seconds.depends_on_clock());
  const DuelRecord duel = combine(processes);
  const DuelRatio& ratio = duel.short_scale->seconds;
  EXPECT_FALSE(ratio.ratio.has_value());
  EXPECT_EQ(ratio.verdict, Verdict::undecided);
  ASSERT_TRUE(ratio.full_clock && ratio.capped);
  EXPECT_EQ(ratio.full_clock->log_ratios.size(), 6U);
  EXPECT_NEAR(std::log(ratio.full_clock->ratio), 0, 5e-3);
  EXPECT_EQ(ratio.full_clock->clock_hz, 1.97e9);
  EXPECT_TRUE(ratio.full_clock->ci_low.has_value());
  EXPECT_EQ(ratio.capped->log_ratios.size(), 2U);
  EXPECT_NEAR(std::log(ratio.capped->ratio), -0.14, 1e-2);
  EXPECT_FALSE(ratio.capped->ci_low.has_value()) << "two processes show no interval";
  EXPECT_EQ(ratio.capped->verdict, Verdict::undecided);
}

TEST(CombinedDuel, OfAGpuDecidesIfBothPowerStatesAgree) {
  std::vector<DuelRecord> processes = processes_of(0, 0, 1, 3);
  for (DuelRecord& one : processes) {
    one.backend = Backend::cuda;
    one.short_scale->seconds = at_two_clocks();
  }
  DuelRecord duel = combine(processes);
  EXPECT_EQ(duel.short_scale->seconds.full_clock->verdict, Verdict::slower);
  EXPECT_EQ(duel.short_scale->seconds.capped->verdict, Verdict::faster);
  EXPECT_EQ(duel.verdict(), Verdict::undecided) << "at full clock alone it would be slower";
  for (DuelRecord& one : processes)
    one.short_scale->seconds.capped = one.short_scale->seconds.full_clock;
  duel = combine(processes);
  EXPECT_EQ(duel.verdict(), Verdict::slower);
  const DuelRatio before = duel.short_scale->seconds;
  duel.judge();
  EXPECT_EQ(duel.short_scale->seconds.capped->ci_low, before.capped->ci_low);
  EXPECT_EQ(duel.short_scale->seconds.log_ratios, before.log_ratios);
  duel.short_scale->seconds.capped->errors.pop_back();
  duel.judge();
  EXPECT_EQ(duel.verdict(), Verdict::undecided) << "three observations";
}

TEST(CombinedDuel, SaysWhereItsProcessesRanAtDifferentClocks) {
  std::vector<DuelRecord> processes = processes_of(0, 0, 1, 5);
  for (DuelRecord& one : processes) one.short_scale->clock_hz.assign(20, 1.97e9);
  EXPECT_TRUE(combine(processes).flags.empty());
  processes[2].short_scale->clock_hz.assign(20, 1.8e9);
  EXPECT_EQ(combine(processes).flags, std::vector<std::string>{kClocksDiffer});
}

TEST(CombinedDuel, WithAWrongProcessIsWrong) {
  std::vector<DuelRecord> processes = processes_of(0, 0, 1, 5);
  processes[2].status = Status::wrong;
  processes[2].reason = "packed: element 3";
  const DuelRecord duel = combine(processes);
  EXPECT_EQ(duel.status, Status::wrong);
  EXPECT_THAT(duel.reason.value(), HasSubstr("process 3 of 5: packed: element 3"));
  EXPECT_FALSE(duel.verdict().has_value());
}

TEST(CombinedDuel, KeepsJoulesOnlyIfEveryProcessKnowsThem) {
  std::vector<DuelRecord> processes = processes_of(0, 0, 1, 5);
  for (DuelRecord& one : processes) one.first.energy_per_launch_j = 3;
  processes.back().second.energy_per_launch_j = 3;
  const DuelRecord duel = combine(processes);
  EXPECT_DOUBLE_EQ(duel.first.energy_per_launch_j.value(), 3.0);
  EXPECT_FALSE(duel.second.energy_per_launch_j.has_value());
}

TEST(CombinedDuel, OfThreeProcessesHasAnIntervalOfJoules) {
  std::vector<DuelRecord> processes = processes_of(0, 0, 1, 3);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    processes[i].first.energy_per_launch_j = 3 * std::exp(0.01 * (static_cast<double>(i) - 1));
  }
  const DuelSide side = combine(processes).first;
  EXPECT_NEAR(side.energy_per_launch_j.value(), 3, 1e-9);
  // Student's t at 97.5 % with two degrees of freedom, times 0.01 / sqrt(3).
  EXPECT_NEAR(std::log(side.energy_ci_high_j.value() / 3), 4.3027 * 0.01 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(std::log(side.energy_ci_low_j.value() / 3), -4.3027 * 0.01 / std::sqrt(3), 1e-6);
}

TEST(CombinedDuel, IsReadFromTheLinesThatItBecomes) {
  std::vector<DuelRecord> processes = processes_of(0.02, 0.01, 1, 6);
  for (DuelRecord& one : processes) {
    one.id = "relu/a:b/fp32/n:8/steady@cpu";
    one.op = "relu";
    one.device = "cpu";
    one.fill = "normal";
    one.first.technique = "a";
    one.second.technique = "b";
    one.shape = Shape({{"n", 8}});
    one.first.verify = Verification{.error = 0.5, .tolerance = 1e-6, .elements = 8};
  }
  const std::string line = to_json(combine(processes)).dump();
  EXPECT_EQ(to_json(parse_duel(line, "test")).dump(), line);
  EXPECT_THROW(parse_duel("{}", "test"), UsageError);
  EXPECT_THROW(parse_duel(line.substr(0, 99), "test"), UsageError);
}

}  // namespace
}  // namespace ridgebench
