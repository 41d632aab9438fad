#include "harness/measure/campaign.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "tests/support/simulated_run.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAreArray;

class CampaignTest : public SimulatedRun {
 protected:
  [[nodiscard]] std::vector<std::string> ids(const RunRequest& request) const {
    std::vector<std::string> result;
    const RunPlan chosen = plan(request);
    for (const Case& c : chosen.cases()) result.push_back(c.id());
    return result;
  }

  // Returns the names of the ceilings in a plan, in order. `control` selects those measured again.
  [[nodiscard]] std::vector<std::string> ceilings(const std::string& filter, bool control) const {
    std::vector<std::string> result;
    const RunPlan chosen = plan(request(filter));
    for (const Case& c : chosen.cases()) {
      if (c.is_ceiling() && c.control == control) result.emplace_back(c.operation->name);
    }
    return result;
  }

  [[nodiscard]] std::ptrdiff_t lines() const {
    return std::ranges::count(text_of(run_ / "records.jsonl"), '\n');
  }
};

TEST_F(CampaignTest, CeilingsComeFirstAndControlsLast) {
  const RunPlan all = plan(request(""));
  const auto part = [](const Case& c) { return c.control ? 2 : c.is_ceiling() ? 0 : 1; };
  EXPECT_TRUE(std::ranges::is_sorted(all.cases(), {}, part));
  std::set<int> parts;
  for (const Case& c : all.cases()) parts.insert(part(c));
  EXPECT_EQ(parts.size(), 3U);
}

TEST_F(CampaignTest, NoRowComesTwice) {
  std::vector<std::string> all = ids(request(""));
  std::ranges::sort(all);
  EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end());
}

TEST_F(CampaignTest, TheSeedDecidesTheOrderOfKernels) {
  RunRequest first = request("^(relu|gelu|dot)/");
  RunRequest second = first;
  second.seed = 2;
  EXPECT_EQ(ids(first), ids(first));
  EXPECT_NE(ids(first), ids(second));
  EXPECT_THAT(ids(first), UnorderedElementsAreArray(ids(second)));
}

TEST_F(CampaignTest, AFilterKeepsTheCeilingsThatItsRowsAreJudgedBy) {
  EXPECT_THAT(ceilings("^relu/", false), testing::ElementsAre("dram_copy")) << "no arithmetic";
  EXPECT_THAT(ceilings("^gelu/", false),
              AllOf(testing::Contains("dram_copy"), testing::Contains("fma_peak"),
                    Not(testing::Contains("dram_read"))));
  EXPECT_THAT(ceilings("^dot/", false),
              AllOf(testing::Contains("dram_read"), Not(testing::Contains("dram_copy"))));
  EXPECT_THAT(ceilings("^dram_triad/", false), testing::ElementsAre("dram_triad"));
}

TEST_F(CampaignTest, CeilingsThatExistAlreadyAreLeftOut) {
  const RunPlan plan(request("^relu/"), devices_, [](const Case&) { return true; });
  EXPECT_TRUE(std::ranges::none_of(plan.cases(), &Case::is_ceiling));
}

TEST_F(CampaignTest, ControlsAreArithmeticAndACopy) {
  EXPECT_THAT(ceilings("^gelu/", true), UnorderedElementsAreArray({"dram_copy", "fma_peak"}));
  EXPECT_THAT(ceilings("^dram_copy/", true), IsEmpty()) << "no kernel came between";
}

TEST_F(CampaignTest, TheQuickProfileMeasuresFewerProductsWhereAPowerLimitMakesThemLong) {
  const RunRequest all = request("");
  use("seed=1");  // opened second, as the device below: the first one pins the threads of OpenMP
  const std::vector<std::string> of_a_host = ids(all);
  EXPECT_EQ(plan(all).left_out(), 0U);
  use("power_limit=700,draw=1200");
  const RunPlan brief = plan(all);
  EXPECT_GT(brief.left_out(), 0U);
  std::set<std::string> chosen;
  for (const Case& c : brief.cases()) chosen.insert(c.id());
  for (const std::string& id : of_a_host) {
    const bool mixed =
        id.starts_with("matmul") && id.find("xfp8", id.find('/')) != std::string::npos;
    if (id.ends_with(":control")) continue;
    EXPECT_EQ(chosen.contains(id), !mixed) << id;
  }
  EXPECT_EQ(plan(request("^matmul")).left_out(), 0U) << "what a filter names is measured";
  RunRequest standard = all;
  standard.profile = Profile::standard;
  EXPECT_EQ(plan(standard).left_out(), 0U);
}

TEST_F(CampaignTest, FiltersThatMatchNothingOrAreMalformedAreUsageErrors) {
  EXPECT_THAT([&] { static_cast<void>(plan(request("^conv/"))); },
              ThrowsMessage<UsageError>(HasSubstr("no case matches filter '^conv/'")));
  EXPECT_THAT([&] { static_cast<void>(plan(request("relu("))); },
              ThrowsMessage<UsageError>(HasSubstr("filter 'relu(' is not a regular expression")));
}

TEST_F(CampaignTest, ThePlanKnowsItsTimeAndItsLargestBuffers) {
  RunRequest wanted = request("^relu/naive/fp32/");
  const double shortest = plan(wanted).budget().total_s();
  EXPECT_GT(shortest, kShortestShare) << "whatever the budget";
  wanted.budget_s = 1000;
  EXPECT_EQ(plan(wanted).budget().total_s(), 1000);
  wanted.budget_s.reset();
  const RunPlan quick = plan(wanted);
  EXPECT_GT(quick.budget().total_s(), 0.3 * static_cast<double>(quick.cases().size()));
}

TEST_F(CampaignTest, CasesThatWillBeSkippedTakeNoTime) {
  const RunPlan all = plan(request("^relu/toy/"));
  const RunPlan served = plan(request("^relu/toy/(fp32|bf16)/"));
  ASSERT_GT(all.cases().size(), served.cases().size());
  EXPECT_EQ(all.budget().shortest_s(), served.budget().shortest_s());
}

TEST_F(CampaignTest, EveryRowIsAppendedInThePlansOrder) {
  ResultsDirectory directory(run_, false);
  const RunRequest wanted = request("^relu/(toy|naive)/fp(32|16)/");
  std::vector<std::string> measured;
  for (const Record& record : measure(wanted, directory, SIZE_MAX)) {
    measured.push_back(record.id);
  }
  EXPECT_EQ(measured, ids(wanted));
  std::vector<std::string> written;
  for (const Record& record : read_records(run_.string())) written.push_back(record.id);
  EXPECT_EQ(written, measured);
}

TEST_F(CampaignTest, ResumingMeasuresOnlyWhatIsMissing) {
  const RunRequest wanted = request("^relu/naive/fp32/");
  std::vector<Record> first;
  {
    ResultsDirectory directory(run_, false);
    first = measure(wanted, directory, 2);
  }
  ASSERT_EQ(lines(), 2);
  const auto total = std::ssize(plan(wanted).cases());
  ASSERT_GT(total, 2);
  ResultsDirectory directory(run_, true);
  const auto all = measure(wanted, directory, SIZE_MAX, read_records(run_.string()));
  EXPECT_EQ(std::ssize(all), total);
  EXPECT_EQ(lines(), total);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(to_json(all[i]).dump(), to_json(first[i]).dump()) << "measured again";
  }
  const auto kernel = std::ranges::find(all, Role::kernel, [](const Record& r) { return r.role; });
  ASSERT_NE(kernel, all.end());
  EXPECT_TRUE(kernel->fraction_of_measured_roof) << "judged by the ceilings of the first part";
}

TEST_F(CampaignTest, ALostDeviceEndsTheRunAndIsOnRecord) {
  use("lose=1");
  ResultsDirectory directory(run_, false);
  EXPECT_THROW(measure(request("^relu/naive/fp32/"), directory, SIZE_MAX), DeviceError);
  const auto records = read_records(run_.string());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::failed);
  EXPECT_THAT(records[0].reason.value_or(""), HasSubstr("lost"));
}

TEST_F(CampaignTest, ASignalEndsTheRunBetweenSamplesAndKeepsFinishedRows) {
  const auto interrupted = [&] {
    listen_for_signals();
    ResultsDirectory directory(run_, false);
    const RunRequest wanted = request("^relu/naive/fp32/");
    measure(wanted, directory, 1);
    if (std::raise(SIGINT) != 0 || !signalled()) std::_Exit(1);
    try {
      measure(wanted, directory, 1);
    } catch (const Interrupted&) {
      std::_Exit(3);
    }
    std::_Exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(interrupted(), ExitedWithCode(3), "");
}

}  // namespace
}  // namespace ridgebench
