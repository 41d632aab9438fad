// Duels of a GPU in three processes on simulated times, whose processes differ.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "harness/base/duels/process_ratio.hpp"
#include "harness/measure/duel/combine.hpp"
#include "tests/harness/measure/duel/duel_device.hpp"

namespace ridgebench {
namespace {

constexpr int kOfAGpu = 3;

// The duel of one process, at the short scale only.
DuelRecord one_process(double slower, std::uint64_t seed) {
  DuelDevice device({.slower = slower, .seed = seed});
  const DuelTimes times = device.duel({.seconds = 0.8, .settles = true, .seed = seed});
  DuelRecord record;
  record.backend = Backend::cuda;
  record.status = Status::ok;
  record.short_scale = DuelScale{.block_s = times.short_scale.block_s,
                                 .quads = times.short_scale.quads,
                                 .seconds = ratio_of(times.short_scale.log_seconds)};
  return record;
}

// A duel whose ratios differ by `between` from process to process.
DuelRecord in_processes(double log_ratio, double between, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> process(log_ratio, between);
  std::vector<DuelRecord> processes;
  for (std::uint64_t i = 0; i < kOfAGpu; ++i) {
    processes.push_back(one_process(std::exp(-process(random)), kOfAGpu * seed + i));
  }
  return combine(processes);
}

TEST(FewProcesses, OfAGpuHaveNoFalseVerdictIn3000Duels) {
  constexpr int kDuels = 3000;
  int covered = 0;
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= kDuels; ++seed) {
    const DuelRatio ratio = in_processes(0, kBetweenProcesses, seed).short_scale->seconds;
    covered += ratio.ci_low.value() <= 1 && 1 <= ratio.ci_high.value() ? 1 : 0;
    wrong += ratio.verdict == Verdict::faster || ratio.verdict == Verdict::slower ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0) << "0.1 are expected";
  EXPECT_GT(covered, 0.93 * kDuels);
  EXPECT_LT(covered, 0.97 * kDuels);
}

TEST(FewProcesses, OfAGpuDecideADifferenceOfOnePercent) {
  int decided = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const DuelRecord duel = in_processes(-0.01, 0, seed);
    EXPECT_EQ(duel.short_scale->seconds.errors.size(), 3U);
    decided += duel.short_scale->seconds.verdict == Verdict::faster ? 1 : 0;
  }
  EXPECT_GE(decided, 99);
}

TEST(FewProcesses, AreJudgedAgainFromTheirLogRatiosAndErrors) {
  DuelRecord duel = in_processes(-0.01, 0, 1);
  const DuelRatio before = duel.short_scale->seconds;
  duel.judge_ratios();
  EXPECT_EQ(duel.short_scale->seconds.ci_high, before.ci_high);
  EXPECT_EQ(duel.short_scale->seconds.verdict, Verdict::faster);
  duel.short_scale->seconds.errors.pop_back();
  duel.judge_ratios();
  EXPECT_EQ(duel.short_scale->seconds.verdict, Verdict::undecided) << "three observations";
}

TEST(FewProcesses, TwoDecideNothing) {
  std::vector<DuelRecord> two{one_process(0.5, 1), one_process(0.5, 2)};
  EXPECT_EQ(combine(two).short_scale->seconds.verdict, Verdict::undecided);
}

}  // namespace
}  // namespace ridgebench
