#include "harness/injected_work.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/measure.hpp"
#include "harness/simulated_device.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/made_up_row.hpp"

namespace ridgepoint {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class InjectedWork : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv(kInjectedWorkVariable); }
  static void inject(const char* share) { setenv(kInjectedWorkVariable, share, 1); }

  // A row of 1000 elements; tells the sizes of its launches and the outputs that they wrote.
  Record measure() {
    SimulatedDevice device{Simulation{}};
    const MadeUpRow made_up(device, [this](const float* x, float* y, std::int64_t n) {
      ++launches_[n];
      outputs_[n].insert(y);
      std::copy_n(x, n, y);
    });
    return Measurer(device, Fill::normal, 1).measure(made_up.row(), 0.1, nullptr);
  }

  std::map<std::int64_t, int> launches_;
  std::map<std::int64_t, std::set<const float*>> outputs_;
};

TEST_F(InjectedWork, NoneUnlessItIsAskedFor) {
  const Record record = measure();
  EXPECT_EQ(launches_.size(), 1U);
  EXPECT_THAT(record.flags, Not(Contains(kInjectedWorkFlag)));
}

TEST_F(InjectedWork, EveryLaunchDoesSoMuchMoreInBuffersOfItsOwn) {
  inject("0.02");
  const Record record = measure();
  ASSERT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_EQ(launches_.at(20), launches_.at(1000));
  EXPECT_EQ(outputs_.at(20).size(), 1U);
  EXPECT_EQ(outputs_.at(1000).size(), static_cast<std::size_t>(record.sets));
  EXPECT_THAT(outputs_.at(1000), Not(Contains(*outputs_.at(20).begin())));
  EXPECT_THAT(record.flags, Contains(kInjectedWorkFlag));
  EXPECT_EQ(record.row.flops, 1000) << "what the row claims to do stays";
}

TEST_F(InjectedWork, ScalesAllDimensionsAlikeAndKeepsTheLayout) {
  const Shape shape({{"m", 1000}, {"n", 200}}, Layout::tn);
  EXPECT_EQ(scaled_shape(shape, 0.04), Shape({{"m", 200}, {"n", 40}}, Layout::tn));
  EXPECT_EQ(scaled_shape(shape, 1e-12), Shape({{"m", 1}, {"n", 1}}, Layout::tn));
  EXPECT_EQ(scaled_shape(Shape({{"n", 1000}}), 0.05), Shape({{"n", 50}}));
}

TEST_F(InjectedWork, OnlySharesAreAllowed) {
  for (const char* text : {"", "x", "-0.1", "1.1", "nan", "0.02x", " 0.02"}) {
    inject(text);
    EXPECT_THAT(injected_share, ThrowsMessage<UsageError>(HasSubstr("from 0 to 1"))) << text;
  }
  inject("0.25");
  EXPECT_EQ(injected_share(), 0.25);
}

}  // namespace
}  // namespace ridgepoint
