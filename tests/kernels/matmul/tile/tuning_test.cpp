#include "kernels/matmul/tile/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "tests/support/power_queue.hpp"

namespace ridgebench {
namespace {

// Work of the candidates, in seconds. The fastest is number 5, by 0.6 %.
constexpr std::array kWork_s{1.012e-3, 1.3e-3, 1.006e-3, 1.02e-3, 1.5e-3, 1.0e-3, 1.1e-3, 1.04e-3};
constexpr int kRight = 5;
constexpr int kSeeds = 100;

Launch launch_of(PowerQueue& queue, int i) {
  return [&queue, i] { queue.work_s += kWork_s.at(static_cast<std::size_t>(i)); };
}

int select(PowerQueue& queue) {
  return select_fastest(queue, kWork_s.size(), [&](int i) { return launch_of(queue, i); });
}

// The former rule: the least median of five single launches, one candidate after the other.
int least_median(PowerQueue& queue) {
  std::array<double, kWork_s.size()> medians{};
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const Launch launch = launch_of(queue, static_cast<int>(i));
    std::array<double, 5> seconds{};
    for (double& s : seconds) s = queue.time(launch);
    std::ranges::sort(seconds);
    medians.at(i) = seconds[2];
  }
  return static_cast<int>(std::ranges::min_element(medians) - medians.begin());
}

template <class Rule>
int seeds_in_which(const Rule& rule) {
  int right = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PowerQueue queue(seed);
    right += rule(queue) == kRight ? 1 : 0;
  }
  return right;
}

TEST(SelectFastest, FindsTheFastestUnderAPowerLimit) { EXPECT_GE(seeds_in_which(select), 99); }

// Candidates 6 and 7 are variants of number 5, and one of them is faster than all. As the
// candidates do not have them, they are tried only because number 5 is the fastest.
TEST(SelectFastest, TriesTheVariantsOfTheFastest) {
  constexpr std::array work_s{1.012e-3, 1.3e-3, 1.006e-3, 1.02e-3, 1.5e-3, 1e-3, 1.01e-3, 0.98e-3};
  constexpr int kFirstVariant = 6;
  int right = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PowerQueue queue(seed);
    std::vector<int> asked;
    const auto make = [&](int i) -> Launch {
      return [&queue, &work_s, i] { queue.work_s += work_s.at(static_cast<std::size_t>(i)); };
    };
    const auto variants = [&](int i) {
      asked.push_back(i);
      return i == kRight ? std::vector{6, 7} : std::vector<int>();
    };
    right += select_fastest(queue, kFirstVariant, make, variants) == 7 ? 1 : 0;
    EXPECT_EQ(asked.size(), 1);
  }
  EXPECT_GE(right, 99);
}

// A variant that cannot run is left out, and the candidate stays.
TEST(SelectFastest, KeepsTheFastestWhereItsVariantsFail) {
  PowerQueue queue(1);
  const auto make = [&](int i) -> Launch {
    if (i >= static_cast<int>(kWork_s.size())) throw std::runtime_error("too large");
    return launch_of(queue, i);
  };
  const int chosen =
      select_fastest(queue, kWork_s.size(), make, [](int /*i*/) { return std::vector{8, 9}; });
  EXPECT_EQ(chosen, kRight);
}

TEST(SelectFastest, TheMedianOfSingleLaunchesFindsASlowerOne) {
  EXPECT_LE(seeds_in_which(least_median), 60) << "the simulated power limit is too quiet";
}

// Equal cycles and 3 % fewer joules: the second candidate is the faster one at the power limit
// only.
constexpr std::array kJoules{0.721, 0.7};

int select_by_joules(PowerQueue& queue, double slower_s = 0) {
  return select_fastest(queue, kJoules.size(), [&](int i) -> Launch {
    return [&queue, i, slower_s] {
      queue.work_s += 1e-3 + (i == 1 ? slower_s : 0);
      queue.joules += kJoules.at(static_cast<std::size_t>(i));
    };
  });
}

TEST(SelectFastest, AtThePowerLimitTheFewestJoulesWinAmongEqualCycles) {
  int right = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PowerQueue queue(seed);
    queue.limit_w = 700;
    right += select_by_joules(queue);
  }
  EXPECT_GE(right, 99);
}

TEST(SelectFastest, BelowThePowerLimitJoulesDoNotCount) {
  constexpr double one_percent = 1e-5;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PowerQueue queue(seed);
    EXPECT_EQ(select_by_joules(queue, one_percent), 0) << seed;
    queue.limit_w = 700;
    EXPECT_EQ(select_by_joules(queue, one_percent), 1) << seed << ": 2 % less time at the limit";
  }
}

// A queue without noise. A candidate throws in its launch of the given number, from 1; 0: never.
template <class Error = std::runtime_error>
class Candidates {
 public:
  explicit Candidates(std::vector<double> work_s, std::vector<int> throws_in = {})
      : work_s_(std::move(work_s)), throws_in_(std::move(throws_in)), launches(work_s_.size()) {
    throws_in_.resize(work_s_.size());
  }

  int select() {
    return select_fastest(queue_, static_cast<int>(work_s_.size()), [this](int i) -> Launch {
      const auto at = static_cast<std::size_t>(i);
      return [this, at] {
        if (++launches[at] == throws_in_[at]) throw Error("launch of " + std::to_string(at));
        queue_.work_s += work_s_[at];
      };
    });
  }

 private:
  // Every launch takes what it takes.
  class QuietQueue final : public Queue {
   public:
    double work_s = 0;
    [[nodiscard]] std::shared_ptr<void> allocate(std::size_t /*bytes*/) override { return {}; }
    [[nodiscard]] double time(const Launch& launch) override {
      work_s = 0;
      launch();
      return work_s;
    }
  };
  QuietQueue queue_;
  std::vector<double> work_s_;
  std::vector<int> throws_in_;

 public:
  std::vector<int> launches;  // of each candidate
};

TEST(SelectFastest, ASingleCandidateTakesNoTurns) {
  Candidates one({1e-3});
  EXPECT_EQ(one.select(), 0);
  EXPECT_EQ(one.launches[0], 2);
}

TEST(SelectFastest, TheFirstOfEqualsWins) { EXPECT_EQ(Candidates({2e-3, 1e-3, 1e-3}).select(), 1); }

TEST(SelectFastest, ThreeTakeTheLastTurns) {
  Candidates five({1.3e-3, 1.2e-3, 1.1e-3, 1e-3, 1.39e-3});
  EXPECT_EQ(five.select(), 3);
  EXPECT_GT(five.launches[1], 5 * five.launches[0]);
  EXPECT_GT(five.launches[1], 5 * five.launches[4]);
}

TEST(SelectFastest, AHopelessCandidateIsLaunchedTwice) {
  Candidates two({1e-3, 2e-3});
  EXPECT_EQ(two.select(), 0);
  EXPECT_EQ(two.launches[1], 2);
}

TEST(SelectFastest, LongLaunchesTakeFewTurns) {
  Candidates two({2.01, 2});
  EXPECT_EQ(two.select(), 1);
  // One alone, two in each round of both passes, of which one round does not count.
  EXPECT_EQ(two.launches, (std::vector<int>{1 + 4 + 8, 1 + 4 + 8}));
}

TEST(SelectFastest, ACandidateThatThrowsIsLeftOut) {
  for (const int launch : {1, 2, 3, 20, 100}) {
    Candidates three({1.1e-3, 1e-3, 1.2e-3}, {0, launch, 0});
    EXPECT_EQ(three.select(), 0) << "thrown in launch " << launch;
    EXPECT_EQ(three.launches[1], launch) << "not launched again";
  }
}

TEST(SelectFastest, WhereAllThrowTheReasonIsTheLastOnes) {
  Candidates<Unsupported> two({1e-3, 1e-3}, {1, 1});
  try {
    two.select();
    FAIL() << "no candidate can be launched";
  } catch (const Unsupported& error) {
    EXPECT_STREQ(error.what(), "launch of 1");
  }
  EXPECT_THROW(Candidates<Unsupported>({1e-3, 1e-3}, {40, 41}).select(), Unsupported);
}

TEST(SelectFastest, ALostDeviceEndsTheSearch) {
  EXPECT_THROW(Candidates<DeviceError>({1e-3, 1e-3}, {0, 1}).select(), DeviceError);
  EXPECT_THROW(Candidates<DeviceError>({1e-3, 1e-3}, {0, 30}).select(), DeviceError);
}

TEST(SelectFastest, EachCandidateHasEachPlaceInARound) {
  const std::vector<Launch> launches(3, [] {});
  const select_detail::Schedule schedule(kLastPass, {1e-3, 1e-3, 1e-3}, launches);
  const std::vector<std::size_t> first(schedule.whose.begin(), schedule.whose.begin() + 12);
  EXPECT_EQ(first, (std::vector<std::size_t>{0, 1, 2, 2, 1, 0, 1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(schedule.settling, 6U * 25) << "0.3 s in rounds of 12 ms";
  EXPECT_EQ(schedule.turns.size(), 6U * (25 + 12));
  EXPECT_EQ(schedule.turns.front().launches, 2) << "2 ms";
}

}  // namespace
}  // namespace ridgebench
