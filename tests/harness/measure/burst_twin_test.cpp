// A ceiling of the memory is measured for milliseconds and for seconds where power settles slowly.
#include <gmock/gmock.h>

#include <algorithm>

#include "harness/results/measured_roofs.hpp"
#include "tests/support/simulated_run.hpp"

namespace ridgebench {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class BurstTwin : public SimulatedRun {
 protected:
  [[nodiscard]] std::vector<std::string> bursts() const {
    std::vector<std::string> names;
    const RunPlan chosen = plan(request("^relu/streaming/fp32/"));
    for (const Case& c : chosen.cases()) {
      if (!c.technique.burst) continue;
      EXPECT_FALSE(c.control) << c.id();
      names.push_back(c.id());
    }
    return names;
  }
};

TEST_F(BurstTwin, IsOnADeviceWhosePowerSettlesSlowly) {
  EXPECT_THAT(bursts(), IsEmpty()) << "a host's power settles at once";
  use("clock=1.98e9,power_limit=700,draw=1200");
  EXPECT_THAT(bursts(), Not(IsEmpty()));
  for (const std::string& id : bursts()) EXPECT_NE(id.find("_burst/"), std::string::npos) << id;
}

TEST_F(BurstTwin, IsShortAndTheOtherOneJudges) {
  use("clock=1.98e9,peak=1e12,bandwidth=1e11,power_limit=700,draw=1200");
  RunRequest quick = request("^relu/streaming/fp32/");
  quick.budget_s.reset();
  const std::vector<Record> records = write_run(quick);
  const auto burst = std::ranges::find(records, true, &Record::burst);
  ASSERT_NE(burst, records.end());
  ASSERT_EQ(burst->status, Status::ok) << burst->reason.value_or("");
  EXPECT_FALSE(ceiling_rate(*burst).has_value());
  std::string id = burst->id;
  id.erase(id.find("_burst"), std::string("_burst").size());
  const auto sustained = std::ranges::find(records, id, &Record::id);
  ASSERT_NE(sustained, records.end());
  EXPECT_FALSE(sustained->burst);
  EXPECT_TRUE(ceiling_rate(*sustained).has_value());
  EXPECT_LT(burst->telemetry.at("window").at("busy_s"), 0.2);
  EXPECT_FALSE(burst->power_state.has_value()) << "NVML renews its counter every 0.1 s";
  EXPECT_TRUE(sustained->power_state.has_value());
  EXPECT_GE(sustained->telemetry.at("window").at("busy_s"), 2);
  const auto relu = std::ranges::find(records, "relu", &Record::op);
  ASSERT_NE(relu, records.end());
  EXPECT_EQ(relu->roof->memory_ceiling, id);
  EXPECT_NE(std::ranges::find(records, id + ":control", &Record::id), records.end());
}

}  // namespace
}  // namespace ridgebench
