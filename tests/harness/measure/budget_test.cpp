#include "harness/measure/budget.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ridgebench {
namespace {

// Runs cases that use their whole share and need these seconds beside it; returns the total.
double run(Budget budget, const std::vector<double>& preparation_s) {
  double elapsed = 0;
  for (std::size_t i = 0; i < preparation_s.size(); ++i) {
    elapsed += budget.share(i, elapsed) + preparation_s[i];
    budget.learn(i, preparation_s[i]);
  }
  return elapsed;
}

TEST(Budget, SharesAndPreparationAddUpToTheBudget) {
  EXPECT_NEAR(run({{1.0, 2.0, 3.0}, 120, 0.3}, {1, 2, 3}), 120, 1e-9);
}

TEST(Budget, HoldsWhereTheEstimatesAreWrong) {
  const std::vector<std::optional<double>> estimates(20, 0.1);
  for (const double taken : {0.0, 0.03, 0.1, 0.5, 1.0}) {
    EXPECT_NEAR(run({estimates, 60, 0.3}, std::vector<double>(20, taken)), 60, 0.1) << taken;
  }
}

TEST(Budget, HoldsWhereSomeCasesPrepareLongerThanOthers) {
  std::vector<std::optional<double>> estimates(20, 0.1);
  std::vector<double> taken(20, 0.3);
  estimates.front() = estimates.back() = 1;
  taken.front() = taken.back() = 4;
  EXPECT_NEAR(run({estimates, 60, 0.3}, taken), 60, 6);
}

TEST(Budget, ACaseThatTookLessLeavesItsTimeToTheOthers) {
  const Budget budget(std::vector<std::optional<double>>(10, 0.0), 120, 0.3);
  EXPECT_GT(budget.share(5, 0), budget.share(5, 60));
  EXPECT_EQ(budget.share(5, 1000), kShortestShare) << "a late case is measured all the same";
}

TEST(Budget, ASkippedCaseHasNoShare) {
  const Budget budget({0.0, std::nullopt, 0.0}, 10, 0.3);
  EXPECT_EQ(budget.share(0, 0), 5);
  EXPECT_EQ(budget.share(2, 5), 5);
}

TEST(Budget, ACaseThatIsLeftOutHasNoShare) {
  Budget budget({1.0, 1.0}, 10, 0.3);
  budget.leave_out(0);
  EXPECT_EQ(budget.share(1, 0), 9);
}

TEST(Budget, KnowsTheShortestRun) {
  EXPECT_DOUBLE_EQ(Budget({1.0, std::nullopt, 2.0}, 1, 0.3).shortest_s(), 3 + 2 * kShortestShare);
  EXPECT_DOUBLE_EQ(Budget({1.0, std::nullopt, 2.0}, 1, 0.3).total_s(), 3 + 2 * kShortestShare);
  EXPECT_DOUBLE_EQ(Budget({1.0, std::nullopt, 2.0}, 10, 0.3).total_s(), 10);
  EXPECT_DOUBLE_EQ(Budget({1.0, std::nullopt, 2.0}, std::nullopt, 0.3).total_s(), 3.6);
}

TEST(Budget, WithoutABudgetEachCaseHasTheTimeOfItsProfile) {
  const Budget budget({0.0, 0.0}, std::nullopt, 0.3);
  EXPECT_EQ(budget.share(0, 0), 0.3);
  EXPECT_EQ(budget.share(1, 1000), 0.3);
}

}  // namespace
}  // namespace ridgebench
