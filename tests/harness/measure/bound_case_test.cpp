// The phases that rows and duels share, and what follows from a case once.
#include "harness/measure/bound_case.hpp"

#include <gmock/gmock.h>

#include <array>

#include "tests/support/made_up_case.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

class BoundCaseTest : public ::testing::Test {
 protected:
  // Binds `kernel` to `sets` buffer sets and checks its first launch.
  std::optional<std::string> check_first(const MadeUpCase::Kernel& kernel, std::int64_t sets = 1) {
    made_up_.emplace(device_, kernel);
    case_ = made_up_->get();
    problem_.emplace(case_.problem());
    bound_.emplace(case_, *problem_, buffers_, check_);
    bind_cases(buffers_, {&*bound_, 1}, sets);
    return bound_->check_first(result_);
  }

  SimulatedDevice device_{Simulation{}};
  Buffers buffers_{device_, Fill::normal, 1};
  OutputCheck check_{device_, Fill::normal, 1};
  std::optional<MadeUpCase> made_up_;
  Case case_{};
  std::optional<Problem> problem_;
  std::optional<BoundCase> bound_;
  Verification result_;
};

TEST_F(BoundCaseTest, ARightKernelPassesBothChecks) {
  EXPECT_EQ(check_first(MadeUpCase::copy, 3), std::nullopt);
  device_.run_each(bound_->rotation());
  EXPECT_EQ(bound_->check_after(result_, false), std::nullopt);
  EXPECT_EQ(bound_->check_after(result_, true), std::nullopt);
}

TEST_F(BoundCaseTest, AStrayWriteIsFoundAtOnce) {
  const auto past_the_end = [](const float* x, float* y, std::int64_t n) {
    MadeUpCase::copy(x, y, n);
    y[n + 1] = 0;
  };
  EXPECT_THAT(check_first(past_the_end), Optional(Eq(kStrayWrite)));
}

// A second launch that leaves the outputs alone passes for one that replaces them, unless they hold
// NaN before it.
TEST_F(BoundCaseTest, ReplacedOutputsAreComputedAgain) {
  int launches = 0;
  const auto lazy = [&](const float* x, float* y, std::int64_t n) {
    if (launches++ == 0) MadeUpCase::copy(x, y, n);
  };
  EXPECT_EQ(check_first(lazy), std::nullopt);
  EXPECT_THAT(bound_->check_after(result_, true), Optional(HasSubstr("after timing")));
}

// A device keeps a graph of the launches at an address.
TEST_F(BoundCaseTest, NewLaunchesLieElsewhere) {
  ASSERT_EQ(check_first(MadeUpCase::copy), std::nullopt);
  const Launch* const before = bound_->rotation().data();
  bind_cases(buffers_, {&*bound_, 1}, 1);
  EXPECT_NE(bound_->rotation().data(), before);
}

TEST_F(BoundCaseTest, TechniquesOfAProblemShareItsBuffersAndAPlan) {
  MadeUpCase made_up(device_);
  int prepared = 0;
  made_up.implementation.prepare = [&](Queue&, const Shape&) -> Plan {
    ++prepared;
    return std::make_shared<int>(1);
  };
  const Case c = made_up.get();
  const Problem problem = c.problem();
  BoundCase first(c, problem, buffers_, check_);
  BoundCase second(c, problem, buffers_, check_, first.plan());
  EXPECT_EQ(prepared, 1);
  std::array pair{std::move(first), std::move(second)};
  bind_cases(buffers_, pair, 2);
  ASSERT_EQ(pair[0].sets().size(), 2);
  EXPECT_TRUE(std::ranges::equal(pair[0].sets(), pair[1].sets()));
}

// 1000 numbers in rows of 64: the last one is short.
TEST_F(BoundCaseTest, AProblemCountsItsRows) {
  const MadeUpCase made_up(device_);
  const Problem problem = made_up.get().problem();
  EXPECT_EQ(problem.rows, 16);
  EXPECT_EQ(problem.row_elements, 64);
  EXPECT_EQ(problem.elements, 1000);
  EXPECT_EQ(problem.elements_of(problem.all_rows()), 1000);
  EXPECT_EQ(problem.elements_of(std::vector<std::int64_t>{0, 3}), 128);
  EXPECT_EQ(problem.work.bytes, 8000);
  EXPECT_FALSE(problem.in_place());
}

TEST(AffordableSets, TakeTheFewestSamplesInTheTime) {
  EXPECT_EQ(affordable_sets(1, 1. / 70), 10);
  EXPECT_EQ(affordable_sets(0, 1), 1);
  EXPECT_EQ(affordable_sets(1, 1e-9), kMaxSets);
}

}  // namespace
}  // namespace ridgebench
