// The check of a case in the memory check and in the budget.
#include "harness/measure/preparation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <deque>

#include "harness/measure/campaign.hpp"
#include "harness/measure/verifying/check_needs.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/made_up_case.hpp"
#include "tests/support/resolved_registry.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

class PreparationTest : public RegistryTest {
 protected:
  // A case of matmul in fp32 on the simulated device.
  [[nodiscard]] Case product_of(const char* technique, const char* shape) {
    for (const auto& i : Registry::instance().implementations()) {
      if (i->operation->name != "matmul" || i->technique.name != technique ||
          i->format != FormatPair(Format::fp32) || i->backend != Backend::cpu) {
        continue;
      }
      return {.operation = i->operation,
              .technique = i->technique,
              .implementation = i.get(),
              .device = &device_,
              .format = i->format,
              .shape = parse_shape(shape, *i->operation)};
    }
    throw std::logic_error("no such technique");
  }

  // The case without its workspace, which does not fit for so long a sum.
  [[nodiscard]] Case bare(Case c) {
    bare_.push_back(*c.implementation);
    bare_.back().technique.workspace_bytes = nullptr;
    c.implementation = &bare_.back();
    return c;
  }

  std::deque<Implementation> bare_;
  SimulatedDevice device_{parse_simulation("memory=1e9")};
};

TEST_F(PreparationTest, TheFirstCaseWithSomeInputsComputesTheReference) {
  const Case first = bare(product_of("packed", "m:1/n:1/k:100M"));
  Case again = first;
  again.regime = Regime::cold;
  const std::vector<Case> cases{first, again, bare(product_of("packed", "m:1/n:1/k:50M"))};
  const auto seconds = preparation_of(cases, 0.3);
  const double reference_s = check_needs(first, first.problem()).first_s;
  EXPECT_GT(reference_s, 0.1);
  ASSERT_TRUE(seconds[0] && seconds[1] && seconds[2]);
  EXPECT_GT(*seconds[0], *seconds[1]);
  EXPECT_GE(*seconds[0], reference_s);
  EXPECT_GE(*seconds[2], reference_s / 2) << "other inputs";
}

TEST_F(PreparationTest, ACaseThatIsSkippedTakesNoTime) {
  const std::vector<Case> cases{product_of("naive", "8192")};
  EXPECT_THAT(preparation_of(cases, 0.3), ::testing::ElementsAre(std::nullopt));
}

TEST_F(PreparationTest, ALongSumNeedsHardlyMoreThanItsOperands) {
  const Case huge = product_of("naive", "m:1/n:1/k:1G");
  EXPECT_LT(check_needs(huge, huge.problem()).bytes, 1e6);
  const Case large = product_of("naive", "m:1/n:1/k:100M");
  EXPECT_EQ(lacks_memory(large, large.problem()), std::nullopt);
  EXPECT_THAT(lacks_memory(huge, huge.problem()),
              Optional(AllOf(HasSubstr("needs 80000"), HasSubstr("1000000000 bytes are free"))));
}

// 600 MB of operands and outputs fit. The expected values of 20 million numbers do not fit too.
TEST_F(PreparationTest, TheExpectedValuesOfTheCheckCount) {
  const Case c = bare(product_of("packed", "m:1/n:50M/k:3"));
  EXPECT_GT(check_needs(c, c.problem()).bytes, 5e7);
  SimulatedDevice small(parse_simulation("memory=8.1e8"));
  Case tight = c;
  tight.device = &small;
  EXPECT_THAT(lacks_memory(tight, tight.problem()),
              Optional(HasSubstr("bytes of memory with the check")));
  Measurer measurer(small, Fill::normal, 1);
  const Record record = measurer.measure(tight, 0.05, [] { return false; });
  EXPECT_EQ(record.status, Status::skipped);
  EXPECT_EQ(record.reason, lacks_memory(tight, tight.problem()));
}

// The packed copy of a wide B takes as many bytes as B.
TEST_F(PreparationTest, TheWorkspaceOfAHostTechniqueCounts) {
  const Case c = product_of("packed", "m:1/n:4M/k:64");
  EXPECT_GE(workspace_bytes(c), 4e6 * 64 * sizeof(float));
  const double set = Buffers::footprint(c.problem().operands, 1);
  SimulatedDevice small(parse_simulation(fmt::format("memory={}", 1.5 * set)));
  Case tight = c;
  tight.device = &small;
  EXPECT_THAT(lacks_memory(tight, tight.problem()),
              Optional(HasSubstr("bytes of memory with the check")));
  tight.implementation = product_of("naive", "m:1/n:4M/k:64").implementation;
  EXPECT_EQ(lacks_memory(tight, tight.problem()), std::nullopt) << "naive packs nothing";
}

// A reference of a user that fills a whole row at once.
TEST_F(PreparationTest, AnOwnOperationWithOneLongRowNeedsItsExpectedValues) {
  MadeUpCase made_up(device_, MadeUpCase::copy, 10'000'000);
  made_up.operation.row_length = [](const Shape& s) { return s["n"]; };
  const auto check_bytes = [](const Case& c) { return check_needs(c, c.problem()).bytes; };
  EXPECT_GE(check_bytes(made_up.get()), 10e6 * sizeof(Expected));
  EXPECT_LT(check_bytes(MadeUpCase(device_, MadeUpCase::copy, 1000).get()), 1e5);
}

}  // namespace
}  // namespace ridgebench
