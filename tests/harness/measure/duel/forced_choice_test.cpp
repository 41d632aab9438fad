#include "harness/measure/duel/forced_choice.hpp"

#include <gmock/gmock.h>

#include <string>

#include "harness/measure/duel/duel.hpp"
#include "harness/measure/duel/plan.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/resolved_registry.hpp"
#include "tests/support/simulated_device.hpp"

namespace ridgebench {
namespace {

using testing::HasSubstr;

// ReLU in parts. The technique chooses three parts.
struct Parts {
  std::int64_t count;

  [[nodiscard]] std::string choice() const { return std::to_string(count) + " parts"; }
  [[nodiscard]] std::string name() const { return "parts=" + std::to_string(count); }
};

Launch bind(Queue& /*queue*/, const Parts& parts, const Shape& shape, const float* x, float* y) {
  return [=, n = shape["n"]] {
    for (std::int64_t part = 0; part < parts.count; ++part) {
      for (std::int64_t i = part; i < n; i += parts.count) y[i] = x[i] < 0 ? 0 : x[i];
    }
  };
}

class ForcedChoice : public RegistryTest {
 protected:
  ForcedChoice() {
    Registry::instance().resolve();
    devices_.push_back(std::make_unique<SimulatedDevice>(Simulation{}));
  }

  DuelCase duel(std::vector<std::string> techniques) {
    DuelRequest request;
    request.techniques = std::move(techniques);
    request.seconds = 0.1;
    request.names.operations = {"relu"};
    request.names.formats = {"fp32"};
    request.names.shapes = {"relu n:64"};
    return choose_duels(request, devices_).at(0);
  }

  std::string refused(const std::string& technique) {
    try {
      duel({technique, "naive"});
    } catch (const UsageError& e) {
      return e.what();
    }
    return "not refused";
  }

  const Registration parts_{{.operation = "relu", .name = "in_parts", .engine = Engine::memory},
                            planned([](Queue&, const Shape&) { return Parts{3}; }, bind,
                                    [] { return std::vector{Parts{1}, Parts{3}, Parts{5}}; })};
  std::vector<std::unique_ptr<Device>> devices_;
};

TEST_F(ForcedChoice, IsPreparedAndRecorded) {
  const DuelCase chosen = duel({"in_parts@parts=5", "in_parts"});
  EXPECT_EQ(chosen.id(), "relu/in_parts@parts=5:in_parts/fp32/n:64/steady@sim");
  DuelMeasurer measurer(*devices_[0], Fill::normal, 1);
  const DuelRecord record = measurer.measure(chosen, {});
  EXPECT_EQ(record.status, Status::ok) << record.reason.value_or("");
  EXPECT_EQ(record.first.technique, "in_parts@parts=5");
  EXPECT_EQ(record.first.choice, "5 parts");
  EXPECT_EQ(record.second.technique, "in_parts");
  EXPECT_EQ(record.second.choice, "3 parts");
}

TEST_F(ForcedChoice, TwoOfOneTechniqueDifferInTheirPlans) {
  DuelMeasurer measurer(*devices_[0], Fill::normal, 1);
  const DuelRecord record = measurer.measure(duel({"in_parts@parts=1", "in_parts@parts=5"}), {});
  EXPECT_EQ(record.first.choice, "1 parts");
  EXPECT_EQ(record.second.choice, "5 parts");
}

TEST_F(ForcedChoice, AnUnknownOneIsRefusedWithTheList) {
  EXPECT_THAT(refused("in_parts@parts=2"), HasSubstr("unknown choice of in_parts 'parts=2'; "));
  EXPECT_THAT(refused("in_parts@parts=2"), HasSubstr("allowed: parts=1, parts=3, parts=5"));
  EXPECT_THAT(refused("in_parts@"), HasSubstr("allowed: parts=1, parts=3, parts=5"));
  EXPECT_EQ(refused("naive@parts=2"),
            "naive has no choice to name: 'naive@parts=2'; allowed: naive");
  EXPECT_THAT(refused("absent@parts=2"), HasSubstr("unknown relu technique in fp32 'absent'"));
}

}  // namespace
}  // namespace ridgebench
