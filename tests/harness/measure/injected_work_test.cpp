#include "harness/measure/injected_work.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "harness/device/simulated_device.hpp"
#include "harness/measure/measurer.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/made_up_row.hpp"

namespace ridgebench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class InjectedWorkTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv(kInjectedWorkVariable); }
  static void set(const char* share) { setenv(kInjectedWorkVariable, share, 1); }

  static Record measure(Regime regime, bool ceiling = false) {
    // Each launch would make a sample of its own.
    SimulatedDevice device(parse_simulation("gap=1e-3"));
    MadeUpRow made_up(device,
                      [](const float* x, float* y, std::int64_t n) { std::copy_n(x, n, y); });
    if (ceiling) made_up.operation.ceiling = Ceiling{.resource = Resource::memory};
    Case row = made_up.row();
    row.regime = regime;
    return Measurer(device, Fill::normal, 1).measure(row, 0.1, nullptr);
  }
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

TEST_F(InjectedWorkTest, ARowThatIsSlowedSaysSo) {
  set("1/50");
  for (const Regime regime : {Regime::steady, Regime::warm}) {
    const Record record = measure(regime);
    ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
    EXPECT_THAT(record.flags, Contains(kInjectedWorkFlag));
    EXPECT_EQ(record.launches_per_sample % 50, 0);
    EXPECT_EQ(record.flops, 1000) << "what the row claims to do stays";
  }
  EXPECT_THAT(measure(Regime::cold).flags, Not(Contains(kInjectedWorkFlag)));
  const Record ceiling = measure(Regime::steady, true);
  ASSERT_EQ(ceiling.status, Status::ok) << ceiling.reason.value_or("");
  EXPECT_THAT(ceiling.flags, Not(Contains(kInjectedWorkFlag)));
  EXPECT_NE(ceiling.launches_per_sample % 50, 0) << "rows are judged by it";
  set("0/50");
  const Record record = measure(Regime::warm);
  EXPECT_THAT(record.flags, Not(Contains(kInjectedWorkFlag)));
  EXPECT_EQ(record.launches_per_sample % 50, 0) << "timed like its slowed counterpart";
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
