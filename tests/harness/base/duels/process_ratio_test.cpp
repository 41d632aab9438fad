// Three processes decide a duel where processes hardly differ, and never wrongly.
#include "harness/base/duels/process_ratio.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace ridgebench {
namespace {

constexpr double kWithin = 5e-4;

struct Processes {
  std::vector<double> log_ratios;
  std::vector<double> errors;

  [[nodiscard]] Ratio ratio() const { return estimate_over_processes(log_ratios, errors).value(); }
};

// Processes around a log ratio that differ by `between` and have an error of kWithin each.
Processes draw(double log_ratio, double between, std::mt19937_64& random, std::size_t count = 3) {
  std::normal_distribution<double> location(log_ratio, std::hypot(between, kWithin));
  Processes processes{.log_ratios = {}, .errors = std::vector(count, kWithin)};
  while (processes.log_ratios.size() < count) processes.log_ratios.push_back(location(random));
  return processes;
}

TEST(ProcessRatio, EqualTechniquesAreNeverCalledFasterAndTheIntervalCovers) {
  constexpr int kDuels = 3000;
  for (const double between : {0.0, 1e-3, kBetweenProcesses}) {
    std::mt19937_64 random(1);
    int covered = 0;
    int wrong = 0;
    for (int i = 0; i < kDuels; ++i) {
      const Ratio ratio = draw(0, between, random).ratio();
      covered += ratio.ci_low <= 1 && 1 <= ratio.ci_high ? 1 : 0;
      wrong += ratio.verdict == Verdict::faster || ratio.verdict == Verdict::slower ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << between;
    EXPECT_GT(covered, 0.93 * kDuels) << between;
    EXPECT_LT(covered, 0.97 * kDuels) << between;
  }
}

TEST(ProcessRatio, TheIntervalCoversWhereProcessesDifferByFarMore) {
  std::mt19937_64 random(2);
  int covered = 0;
  constexpr int kDuels = 3000;
  for (int i = 0; i < kDuels; ++i) {
    const Ratio ratio = draw(0.1, 0.03, random).ratio();
    covered += ratio.ci_low <= std::exp(0.1) && std::exp(0.1) <= ratio.ci_high ? 1 : 0;
  }
  EXPECT_GT(covered, 0.93 * kDuels);
  EXPECT_LT(covered, 0.97 * kDuels);
}

TEST(ProcessRatio, OnePercentIsFoundAndEqualTechniquesAreTheSame) {
  std::mt19937_64 random(3);
  int found = 0;
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    found += draw(-0.01, 0, random).ratio().verdict == Verdict::faster ? 1 : 0;
    found += draw(0.01, 0, random).ratio().verdict == Verdict::slower ? 1 : 0;
    same += draw(0, 0, random).ratio().verdict == Verdict::same ? 1 : 0;
  }
  EXPECT_GE(found, 1990);
  EXPECT_GE(same, 990);
}

TEST(ProcessRatio, LessThanWhatProcessesMayDifferByIsNoVerdict) {
  const Processes sure{.log_ratios = {0.0055, 0.0055, 0.0055}, .errors = std::vector(3, 1e-6)};
  EXPECT_EQ(sure.ratio().verdict, Verdict::undecided);
  EXPECT_NEAR(effort_over_processes(sure.log_ratios, sure.errors), 1.05, 0.01);
  const Processes more{.log_ratios = {0.0058, 0.0058, 0.0058}, .errors = std::vector(3, 1e-6)};
  EXPECT_EQ(more.ratio().verdict, Verdict::slower);
}

TEST(ProcessRatio, ProcessesThatDisagreeDecideNothing) {
  const Processes apart{.log_ratios = {0.01, 0.03, 0.05}, .errors = std::vector(3, kWithin)};
  EXPECT_EQ(apart.ratio().verdict, Verdict::undecided);
  EXPECT_LT(apart.ratio().ci_low, 1);
}

TEST(ProcessRatio, AWideErrorWithinAProcessDelaysAVerdict) {
  const Processes noisy{.log_ratios = {0.01, 0.0101, 0.0102}, .errors = {kWithin, 0.01, kWithin}};
  EXPECT_EQ(noisy.ratio().verdict, Verdict::undecided);
}

TEST(ProcessRatio, NeedsThreeProcessesWithFiniteErrors) {
  using Values = std::vector<double>;
  EXPECT_FALSE(estimate_over_processes(Values{0, 0}, Values{0, 0}).has_value());
  EXPECT_THROW(estimate_over_processes(Values{0, 0, 0}, Values{0, 0}), std::invalid_argument);
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(estimate_over_processes(Values{0, 0, kNoNumber}, Values{0, 0, 0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace ridgebench
