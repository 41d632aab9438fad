// A soak on the simulated device, whose clock the tests move: how often and how soon are injected
// faults found? docs/operate/soak.md states these rates.
#include "harness/measure/soak/soak.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/soak_report.hpp"
#include "tests/support/made_up_case.hpp"

namespace ridgebench {
namespace {

using testing::SizeIs;

constexpr std::int64_t kSoakedElements = 4096;  // 2048 words, which a launch moves in 30 ms
constexpr double kMinutes = 10;

Simulation soaked_device(std::uint64_t seed) {
  Simulation simulation;
  simulation.bandwidth = 1e6;
  simulation.heat = 60;
  simulation.seed = seed;
  return simulation;
}

struct SoakOutcome {
  SoakReport report;
  std::optional<double> found_s;  // after which the first mismatch was logged
  std::int64_t logged = 0;        // mismatches
  std::int64_t lines = 0;         // of the log
};

SoakOutcome soak_with(const std::optional<InjectedFault>& fault, std::uint64_t seed,
                      double seconds = 60 * kMinutes) {
  SimulatedDevice device(soaked_device(seed));
  MadeUpCase copies(device, MadeUpCase::copy, kSoakedElements);
  if (fault) device.inject(*fault);
  SoakOutcome outcome;
  Soak soak(
      device, {.seconds = seconds, .memory_share = 0, .seed = seed},
      [&](const nlohmann::ordered_json& event) {
        outcome.report.add(nlohmann::json(event), "test");
        ++outcome.lines;
        if (event.at("event") == "more") outcome.logged += event.at("mismatches").get<int>();
        if (event.at("event") != "mismatch") return;
        ++outcome.logged;
        if (!outcome.found_s) outcome.found_s = event.at("elapsed_s").get<double>();
      },
      [] { return false; }, [&](double s) { device.pass(s); });
  soak.run({copies.get()});
  return outcome;
}

// Soaks of kMinutes with seeds from 1 on that find the fault, and the longest time from its
// beginning to the first mismatch. A fault with an `after` begins at another moment in each soak.
struct Found {
  int soaks = 0;
  double longest_s = 0;
};
Found count_found(InjectedFault fault, int soaks) {
  Found found;
  for (int seed = 1; seed <= soaks; ++seed) {
    fault.seed = seed;
    if (fault.after > 0) fault.after = 30 + 13.7 * seed;
    const SoakOutcome outcome = soak_with(fault, static_cast<std::uint64_t>(seed));
    EXPECT_EQ(outcome.report.mismatches(), outcome.logged);
    if (!outcome.found_s) continue;
    ++found.soaks;
    found.longest_s = std::max(found.longest_s, *outcome.found_s - fault.after);
  }
  return found;
}

constexpr int kSoaks = 20;

TEST(Soak, ASoundDeviceHasNoMismatchInAnyPhase) {
  const SoakOutcome outcome = soak_with(std::nullopt, 1);
  EXPECT_EQ(outcome.report.exit_code(), ExitCode::fine);
  ASSERT_THAT(outcome.report.counts(), SizeIs(1));
  const SoakCount& count = outcome.report.counts().front();
  EXPECT_GT(count.launches, 60 * kMinutes / 0.04 / 2);
  EXPECT_DOUBLE_EQ(count.bytes, static_cast<double>(count.launches * kSoakedElements * 4));
}

TEST(Soak, OneFlippedBitIsFoundInEverySoak) {
  const Found found = count_found({.kind = FaultKind::once, .after = 60}, kSoaks);
  EXPECT_EQ(found.soaks, kSoaks);
  EXPECT_LT(found.longest_s, 11);  // a cold start rests for 9.6 s
}

TEST(Soak, AStuckBitOfALaneIsFoundInEverySoak) {
  const Found found =
      count_found({.kind = FaultKind::stuck, .after = 60, .lane = 3, .bit = 20}, kSoaks);
  EXPECT_EQ(found.soaks, kSoaks);
  EXPECT_LT(found.longest_s, 11);
}

TEST(Soak, AFaultOfOneMultiprocessorIsFoundInEverySoak) {
  const Found found =
      count_found({.kind = FaultKind::sm, .after = 60, .unit = 5, .units = 8}, kSoaks);
  EXPECT_EQ(found.soaks, kSoaks);
  EXPECT_LT(found.longest_s, 11);
}

TEST(Soak, AFaultAboveATemperatureIsFoundWhenTheDeviceIsHot) {
  EXPECT_EQ(count_found({.kind = FaultKind::hot, .above = 80}, kSoaks).soaks, kSoaks);
  EXPECT_EQ(count_found({.kind = FaultKind::hot, .above = 95}, kSoaks).soaks, 0);
}

// 10 min compare w words. A fault of one in r words is found with the probability 1 - exp(-w / r).
TEST(Soak, ARareFaultIsFoundAsOftenAsItsRateSays) {
  const double words = soak_with(std::nullopt, 1).report.counts().front().bytes / 8;
  const Found frequent = count_found({.kind = FaultKind::rate, .one_in = words / 5}, kSoaks);
  EXPECT_EQ(frequent.soaks, kSoaks);  // 99.3 % each
  const Found rare = count_found({.kind = FaultKind::rate, .one_in = 2 * words}, kSoaks);
  EXPECT_EQ(rare.soaks, 5);                                                           // 39 % each
  EXPECT_LE(count_found({.kind = FaultKind::rate, .one_in = 1e9}, kSoaks).soaks, 3);  // 4 % each
}

TEST(Soak, MismatchesDoNotEndIt) {
  const SoakOutcome outcome = soak_with(InjectedFault{.kind = FaultKind::stuck, .bit = 40}, 1, 120);
  EXPECT_TRUE(outcome.report.finished());
  EXPECT_GT(outcome.logged, 1000);
  EXPECT_EQ(outcome.report.exit_code(), ExitCode::row_failed);
}

// Each launch leaves wrong bits.
TEST(Soak, TheLogIsBoundedAndCountsEveryMismatch) {
  constexpr std::int64_t kMostLogged = 10'000;
  const SoakOutcome outcome =
      soak_with(InjectedFault{.kind = FaultKind::stuck, .bit = 40}, 1, 60 * kMinutes);
  const SoakCount& count = outcome.report.counts().front();
  ASSERT_GT(count.launches, kMostLogged + 1000);
  EXPECT_EQ(count.mismatches, count.launches);
  EXPECT_EQ(outcome.logged, count.launches);
  EXPECT_EQ(outcome.report.without_line(), count.launches - kMostLogged);
  std::int64_t in_phases = 0;
  for (const auto& [phase, mismatches] : count.phases) in_phases += mismatches;
  EXPECT_EQ(in_phases, count.launches);
  EXPECT_LT(outcome.lines, kMostLogged + 200);
}

TEST(Soak, ALostDeviceLosesNoMismatchWithoutALine) {
  SimulatedDevice device([] {
    Simulation simulation = soaked_device(1);
    simulation.lose = 11'000;
    return simulation;
  }());
  MadeUpCase copies(device, MadeUpCase::copy, kSoakedElements);
  device.inject({.kind = FaultKind::stuck, .bit = 40});
  SoakReport report;
  Soak soak(
      device, {.seconds = 60 * kMinutes, .memory_share = 0},
      [&](const nlohmann::ordered_json& event) { report.add(nlohmann::json(event), "test"); },
      [] { return false; }, [&](double s) { device.pass(s); });
  EXPECT_THROW(soak.run({copies.get()}), DeviceError);
  EXPECT_GT(report.without_line(), 0);
  EXPECT_GE(report.mismatches(), report.counts().front().launches);
  EXPECT_NEAR(static_cast<double>(report.mismatches()), 11'000, 20);
}

std::vector<std::byte> rows_of(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.insert(bytes.end(), 16, std::byte(value));
  return bytes;
}

TEST(Vote, TheMajorityOfMultiprocessorsIsRight) {
  std::vector<std::byte> output = rows_of({7, 7, 6, 7});
  const WrongBits wrong = vote(output, 4);
  EXPECT_EQ(wrong.words, 2);
  EXPECT_EQ(wrong.bits, 16);
  EXPECT_EQ(wrong.first.front().index, 4U);
  EXPECT_EQ(output, rows_of({7, 7, 7, 7}));
}

TEST(Vote, TwoCannotVoteAndHalvesAreNoMajority) {
  std::vector<std::byte> two = rows_of({7, 6});
  EXPECT_EQ(vote(two, 2).words, 0);
  std::vector<std::byte> halves = rows_of({7, 7, 6, 6});
  EXPECT_EQ(vote(halves, 4).words, 0);
  EXPECT_EQ(halves, rows_of({7, 7, 6, 6}));
}

}  // namespace
}  // namespace ridgebench
