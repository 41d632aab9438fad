#include "harness/measure/duel/duel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "harness/measure/duel/plan.hpp"
#include "harness/measure/sampler.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/made_up_case.hpp"

namespace ridgebench {
namespace {

using testing::StartsWith;

// Duels of kernels that a test makes up, on a simulated device.
class DuelTest : public testing::Test {
 protected:
  using Kernel = MadeUpCase::Kernel;

  DuelRecord measure(const Kernel& first, const Kernel& second, double seconds = 5) {
    MadeUpCase a(device_, first);
    MadeUpCase b(device_, second);
    b.implementation.technique.name = "other";
    DuelMeasurer measurer(device_, Fill::normal, 1);
    return measurer.measure({a.get(), b.get(), seconds}, {});
  }

  SimulatedDevice device_{parse_simulation("noise=0.001")};
};

TEST_F(DuelTest, TheWorkspacesOfBothTechniquesTakeMemory) {
  const auto workspace = [](const Machine&, const Shape&) { return 150e6; };
  MadeUpCase a(device_);
  MadeUpCase b(device_);
  a.implementation.technique.workspace_bytes = workspace;
  const auto duel = [&] {
    return DuelMeasurer(device_, Fill::normal, 1).measure({a.get(), b.get(), 1}, {});
  };
  EXPECT_EQ(duel().status, Status::ok) << "268 MB are free";
  b.implementation.technique.workspace_bytes = workspace;
  const DuelRecord record = duel();
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_THAT(record.reason, testing::Optional(testing::HasSubstr("memory with the check")));
}

TEST_F(DuelTest, OfTwoRightTechniquesHasAVerdict) {
  const DuelRecord record = measure(MadeUpCase::copy, MadeUpCase::copy);
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_EQ(record.verdict(), Verdict::same);
  EXPECT_EQ(record.verdict_in_cycles(), Verdict::same);
  EXPECT_EQ(record.decided_by(), "short");
  EXPECT_EQ(record.id, "identity/made_up:other/fp32/n:1000/steady@sim");
  EXPECT_TRUE(record.first.verify->exact);
  EXPECT_GT(record.first.verify->elements, 1000) << "compared before and after";
  EXPECT_GT(record.sets, 1);
}

TEST_F(DuelTest, WithAWrongTechniqueHasNoVerdict) {
  const Kernel zeros = [](const float*, float* y, std::int64_t n) { std::fill_n(y, n, 0.0F); };
  for (const bool first : {true, false}) {
    const DuelRecord record =
        first ? measure(zeros, MadeUpCase::copy) : measure(MadeUpCase::copy, zeros);
    EXPECT_EQ(record.status, Status::wrong);
    EXPECT_THAT(record.reason.value(), StartsWith(first ? "made_up: before" : "other: before"));
    EXPECT_FALSE(record.verdict().has_value());
    EXPECT_FALSE(record.short_scale.has_value());
  }
}

// The other technique has written the element, so only poison between the two checks shows it.
TEST_F(DuelTest, FindsATechniqueThatLaterLeavesAnElementUnwritten) {
  int calls = 0;
  const Kernel lazy = [&](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, calls++ == 0 ? n : n - 1);
  };
  const DuelRecord record = measure(lazy, MadeUpCase::copy);
  EXPECT_EQ(record.status, Status::wrong);
  EXPECT_THAT(record.reason.value(), StartsWith("made_up: after timing"));
}

TEST_F(DuelTest, FindsAResultThatMoves) {
  int calls = 0;
  const Kernel moving = [&](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n);
    if (calls++ > 0) y[7] = std::numeric_limits<float>::infinity();
  };
  const DuelRecord record = measure(MadeUpCase::copy, moving);
  EXPECT_EQ(record.status, Status::wrong);
  EXPECT_THAT(record.reason.value(), StartsWith("other: after timing"));
}

TEST_F(DuelTest, FindsAStrayWrite) {
  const Kernel stray = [](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n);
    y[n] = 1;
  };
  const DuelRecord record = measure(MadeUpCase::copy, stray);
  EXPECT_EQ(record.status, Status::wrong);
  EXPECT_EQ(record.reason, "other wrote outside its output");
}

TEST_F(DuelTest, AFailureBecomesTheReason) {
  const Kernel failing = [](const float*, float*, std::int64_t) {
    throw std::runtime_error("launch failed");
  };
  const DuelRecord record = measure(MadeUpCase::copy, failing);
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(record.reason, "launch failed");
}

TEST_F(DuelTest, AnUnsupportedShapeSaysWhose) {
  MadeUpCase a(device_);
  MadeUpCase b(device_);
  b.implementation.technique.name = "picky";
  b.implementation.technique.supports = [](const Machine&, const Shape&,
                                           FormatPair) -> std::optional<std::string> {
    return "n must be even";
  };
  DuelMeasurer measurer(device_, Fill::normal, 1);
  const DuelRecord record = measurer.measure({a.get(), b.get(), 5}, {});
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_EQ(record.reason, "picky: n must be even");
}

TEST_F(DuelTest, ATechniqueAgainstItselfIsPreparedOnce) {
  MadeUpCase one(device_);
  int prepared = 0;
  one.implementation.prepare = [&](Queue&, const Shape&) -> Plan {
    ++prepared;
    return std::make_shared<int>(prepared);
  };
  one.implementation.choice = [](const Plan& plan) {
    return "choice " + std::to_string(*static_cast<int*>(plan.get()));
  };
  DuelMeasurer measurer(device_, Fill::normal, 1);
  const DuelRecord record = measurer.measure({one.get(), one.get(), 5}, {});
  EXPECT_EQ(record.status, Status::ok);
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(record.first.choice, "choice 1");
  EXPECT_EQ(record.second.choice, "choice 1");
}

TEST_F(DuelTest, StopsBetweenBlocks) {
  MadeUpCase one(device_);
  DuelMeasurer measurer(device_, Fill::normal, 1);
  EXPECT_THROW(measurer.measure({one.get(), one.get(), 5}, [] { return true; }), Interrupted);
}

DuelRecord finished(Status status, std::vector<double> log_ratios = {}) {
  DuelRecord record;
  record.status = status;
  if (status == Status::ok) {
    record.short_scale = DuelScale{.quads = 200, .seconds = ratio_of(std::move(log_ratios))};
  }
  return record;
}

TEST(DuelExitCode, IsThatOfTheWorstDuel) {
  const DuelRecord decided = finished(Status::ok, std::vector<double>(200, 0.01));
  const DuelRecord open = finished(Status::ok, {-1, 1, -2, 2, 0});
  const DuelRecord skipped = finished(Status::skipped);
  const auto code = [](std::vector<DuelRecord> duels) { return exit_code(duels); };
  EXPECT_EQ(code({decided, skipped}), ExitCode::fine);
  EXPECT_EQ(code({decided, open}), ExitCode::undecided);
  EXPECT_EQ(code({skipped, skipped}), ExitCode::row_failed);
  EXPECT_EQ(code({open, finished(Status::wrong)}), ExitCode::row_failed);
  EXPECT_EQ(code({decided, finished(Status::failed)}), ExitCode::row_failed);
}

TEST(DuelRecordTest, TheLongScaleDecidesWherePowerSettlesSlowly) {
  DuelRecord record = finished(Status::ok, std::vector<double>(200, 0.01));
  record.long_scale = DuelScale{.quads = 4, .seconds = ratio_of(std::vector<double>(8, -0.01))};
  EXPECT_EQ(record.verdict(), Verdict::slower);
  record.power_settles = true;
  EXPECT_EQ(record.verdict(), Verdict::faster);
  EXPECT_EQ(record.decided_by(), "long");
  record.long_scale->seconds = ratio_of({});
  EXPECT_EQ(record.decided_by(), "short") << "a long scale without an interval decides nothing";
}

}  // namespace
}  // namespace ridgebench
