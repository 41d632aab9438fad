#include "kernels/matmul/tile/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace ridgebench::cuda {
namespace {

// Times of each candidate's launches in order; the last one repeats.
using Times = std::vector<std::vector<double>>;

int fastest(const Times& times) {
  return fastest_of(static_cast<int>(times.size()), [&](int i) {
    return [&of = times[static_cast<std::size_t>(i)], next = std::size_t{0}]() mutable {
      return of[std::min(next++, of.size() - 1)];
    };
  });
}

TEST(Tuning, TheSmallestMedianWins) {
  EXPECT_EQ(fastest({{3e-3}, {1e-3}, {2e-3}}), 1);
  EXPECT_EQ(fastest({{1e-3}, {1e-3}}), 0);
}

TEST(Tuning, OneSlowSampleOfFiveDecidesNothing) {
  for (std::size_t slow = 0; slow < 5; ++slow) {
    std::vector<double> best(5, 0.9e-3);
    best[slow] = 0.5;
    EXPECT_EQ(fastest({{1e-3}, best}), 1) << "sample " << slow;
    EXPECT_EQ(fastest({best, {1e-3}}), 0) << "sample " << slow;
  }
}

// Candidates whose launch throws `Error`, given as a negative time.
template <class Error>
int fastest_or_throw(const std::vector<double>& times) {
  return fastest_of(static_cast<int>(times.size()), [&](int i) {
    return [time = times[static_cast<std::size_t>(i)]] {
      if (time < 0) throw Error("the launch failed");
      return time;
    };
  });
}

TEST(Tuning, ACandidateThatThrowsIsLeftOut) {
  EXPECT_EQ(fastest_or_throw<std::runtime_error>({-1, 2e-3, -1, 1e-3, -1}), 3);
  EXPECT_EQ(fastest_or_throw<Unsupported>({1e-3, -1}), 0);
}

TEST(Tuning, WhereAllCandidatesThrowTheReasonIsTheLastOnes) {
  EXPECT_THROW(fastest_or_throw<Unsupported>({-1, -1}), Unsupported);
}

TEST(Tuning, ALostDeviceEndsTheSearch) {
  EXPECT_THROW(fastest_or_throw<DeviceError>({1e-3, -1}), DeviceError);
}

TEST(Tuning, ACandidateOutOfTheRaceIsTimedTwice) {
  int calls = 0;
  EXPECT_EQ(score([&] { return ++calls, 1.3e-3; }, 1e-3), 1.3e-3);
  EXPECT_EQ(calls, 2);
}

TEST(Tuning, ALongLaunchIsTimedTwice) {
  int calls = 0;
  EXPECT_EQ(score([&] { return ++calls == 1 ? 0.03 : 0.02; }, 1), 0.02);
  EXPECT_EQ(calls, 2);
}

TEST(Tuning, ACandidateInTheRaceIsTimedFiveTimes) {
  int calls = 0;
  EXPECT_DOUBLE_EQ(score([&] { return ++calls * 1e-4; }, 1), 3e-4);
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace ridgebench::cuda
