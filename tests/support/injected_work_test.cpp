#include "tests/support/injected_work.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/stopwatch.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class InjectedWorkTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv(kInjectedWorkVariable); }
  static void set(const char* share) { setenv(kInjectedWorkVariable, share, 1); }
};

// How often each of `sets` launches runs in a batch.
std::vector<int> counts(std::size_t sets, const InjectedWork& work, std::size_t& counted) {
  std::vector<int> result(sets);
  std::vector<Launch> rotation;
  for (std::size_t i = 0; i < sets; ++i) rotation.emplace_back([&result, i] { ++result[i]; });
  const std::vector<Launch> batch = inject(rotation, work);
  counted = batch.size();
  for (const Launch& launch : batch) launch();
  return result;
}

TEST_F(InjectedWorkTest, AddsItsShareToWholeGroups) {
  std::size_t counted = 0;
  for (const std::size_t sets : {1, 3, 20, 49, 50, 51, 700}) {
    for (const InjectedWork work : {InjectedWork{1, 50}, {0, 50}, {3, 20}}) {
      const std::vector<int> runs = counts(sets, work, counted);
      const auto group = static_cast<std::size_t>(work.counted);
      EXPECT_EQ(counted, (sets + group - 1) / group * group);
      const std::size_t extra = counted / group * static_cast<std::size_t>(work.extra);
      EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), std::size_t{0}), counted + extra);
    }
  }
}

TEST_F(InjectedWorkTest, NoWorkLeavesTheRotationAsItIs) {
  std::size_t counted = 0;
  EXPECT_EQ(counts(3, injected_work(), counted), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(counted, 3U);
}

TEST_F(InjectedWorkTest, TheSecondLaunchIsHalfARotationAway) {
  std::size_t counted = 0;
  EXPECT_EQ(counts(4, {1, 4}, counted), (std::vector<int>{1, 1, 2, 1}));
}

// Launches that a batch of three counted launches runs.
int launches(InjectedWorkDevice& device, const std::string& id) {
  int count = 0;
  const std::vector<Launch> rotation(3, [&count] { ++count; });
  device.begin_case(id);
  device.time_batch(rotation, 1);
  return count;
}

TEST_F(InjectedWorkTest, AKernelThatIsSlowedSaysSo) {
  InjectedWorkDevice slowed({.extra = 1, .counted = 50});
  for (const std::string regime : {"steady", "warm"}) {
    EXPECT_EQ(launches(slowed, "relu/naive/fp32/n:8/" + regime + "@cpu"), 51);
    EXPECT_EQ(slowed.end_case().at(kInjectedWorkKey), "1/50");
  }
  InjectedWorkDevice alike({.extra = 0, .counted = 50});
  EXPECT_EQ(launches(alike, "relu/naive/fp32/n:8/warm@cpu"), 50);
  EXPECT_FALSE(alike.end_case().contains(kInjectedWorkKey)) << "timed like its slowed counterpart";
}

TEST_F(InjectedWorkTest, CeilingsAndColdLaunchesStayAsTheyAre) {
  InjectedWorkDevice device({.extra = 1, .counted = 50});
  for (const char* id :
       {"relu/naive/fp32/n:8/cold@cpu", "dram_copy/streaming/fp32/n:8/steady@cpu"}) {
    EXPECT_EQ(launches(device, id), 3) << id;
    EXPECT_FALSE(device.end_case().contains(kInjectedWorkKey)) << id;
  }
}

TEST_F(InjectedWorkTest, ABatchIsTimedPerLaunchThatIsCounted) {
  using std::chrono::milliseconds;
  InjectedWorkDevice device({.extra = 1, .counted = 4});
  device.begin_case("relu/naive/fp32/n:8/warm@cpu");
  double spent_s = 0;  // in all five launches
  const Launch sleep = [&spent_s] {
    const Stopwatch clock;
    std::this_thread::sleep_for(milliseconds(2));
    spent_s += clock.seconds();
  };
  const double seconds = device.time_batch({&sleep, 1}, 1).seconds;
  EXPECT_GE(4 * seconds, spent_s) << "four of the five launches are counted";
  EXPECT_LT(seconds, spent_s) << "of one launch, not of the whole group";
}

TEST_F(InjectedWorkTest, OnlySharesAreAllowed) {
  for (const char* text :
       {"", "x", "0.02", "/", "1/", "/5", "-1/5", "6/5", "1/0", "1/1001", " 1/5"}) {
    set(text);
    EXPECT_THAT(injected_work, ThrowsMessage<UsageError>(HasSubstr("is not K/N"))) << text;
  }
  set("1/20");
  EXPECT_EQ(injected_work().extra, 1);
  EXPECT_EQ(injected_work().counted, 20);
}

}  // namespace
}  // namespace ridgebench
