// Counters of faults that grew during a run, by the readings before and after it.
#include "harness/results/worn.hpp"

#include <gmock/gmock.h>

#include "harness/results/soak_report.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ordered_json environment_of(const ordered_json& before, const ordered_json& after) {
  return {{"conditions", {{{"code", "busy"}, {"text", "other programs run"}}}},
          {"state",
           {{"before", {{"host", {{"load_average", 1}}}, {"cuda:1", before}}},
            {"after", {{"host", {{"load_average", 9}}}, {"cuda:1", after}}}}}};
}

TEST(Worn, NamesTheCountersThatGrew) {
  ordered_json environment =
      environment_of({{"xids", 0}, {"nvlink_errors", {{"replay", 4}}}, {"power_capped_s", 1}},
                     {{"xids", 2}, {"nvlink_errors", {{"replay", 5}}}, {"power_capped_s", 9}});
  record_worn(environment);
  EXPECT_THAT(recorded_worn(environment),
              ElementsAre("cuda:1 counted faults during the run: nvlink_errors.replay grew from 4 "
                          "to 5, xids grew from 0 to 2"));
  EXPECT_EQ(environment["conditions"][0]["code"], "busy") << "the others stay";
  EXPECT_EQ(environment["conditions"][1]["severe"], false);
  EXPECT_THAT(worn_problems(environment), IsEmpty());
}

TEST(Worn, KnowsTheCountersAfterWhichAGpuShouldNotWorkOn) {
  for (const auto& [key, before, after] :
       {std::tuple<const char*, ordered_json, ordered_json>{"ecc_uncorrected", 0, 1},
        {"ecc_lifetime", {{"uncorrected", 7}}, {{"uncorrected", 8}}},
        {"remapped_rows", {{"pending", false}}, {{"pending", true}}},
        {"retired_pages", {{"double_bit", 0}}, {{"double_bit", 1}}},
        {"spare_rows", {{"none", 0}, {"max", 640}}, {{"none", 1}, {"max", 639}}}}) {
    const auto worn = worn_devices(environment_of({{key, before}}, {{key, after}}));
    ASSERT_EQ(worn.size(), 1U) << key;
    EXPECT_TRUE(worn[0].severe()) << key;
    EXPECT_EQ(worn[0].counters.size(), 1U) << key;
  }
}

TEST(Worn, CorrectedErrorsAndCountersThatShrankOrAreAbsentAreNoFinding) {
  for (const auto& [before, after] :
       {std::pair<ordered_json, ordered_json>{{{"ecc_corrected", 1}}, {{"ecc_corrected", 9}}},
        {{{"ecc_lifetime", {{"corrected", 1}}}}, {{"ecc_lifetime", {{"corrected", 2}}}}},
        {{{"pcie_replays", 5}}, {{"pcie_replays", 0}}},  // the driver was loaded again
        {{{"pcie_replays", 5}}, {{"pcie_replays", 5}}},
        {ordered_json::object(), {{"xids", 3}}},
        {{{"xids", nullptr}}, {{"xids", 3}}}}) {
    ordered_json environment = environment_of(before, after);
    record_worn(environment);
    EXPECT_THAT(recorded_worn(environment), IsEmpty()) << after.dump();
  }
}

// doctor calls a replay a note: a soak must not take the node out for it.
TEST(Worn, OnlyFaultsThatMaySpoilAResultMakeASoakWrong) {
  for (const auto& [counter, code] :
       {std::pair("pcie_replays", ExitCode::undecided),
        std::pair("nvlink_errors.crc_flit", ExitCode::undecided),
        std::pair("ecc_corrected", ExitCode::undecided), std::pair("xids", ExitCode::row_failed),
        std::pair("ecc_uncorrected", ExitCode::row_failed)}) {
    SoakReport report;  // which launched nothing
    report.add({{"event", "fault"}, {"counter", counter}, {"before", 0}, {"after", 1}}, "soak");
    EXPECT_EQ(report.exit_code(), code) << counter;
    EXPECT_EQ(report.to_json().at("faults").size(), 1U) << counter;
  }
}

// DCGM: more than 8 replays a minute, and 100 CRC errors a second and more.
TEST(Worn, ErrorsOfLinksAreADoubtAboveTheirRateAndANoteBelow) {
  const auto crc = [](int errors) { return ordered_json{{"crc_data", errors}}; };
  struct Run {
    const char* key;
    ordered_json after;
    ordered_json seconds;
    bool worn;
  };
  for (const Run& run :
       {Run{"pcie_replays", 1, 2, false}, Run{"pcie_replays", 8, 2, false},
        Run{"pcie_replays", 9, 2, true}, Run{"pcie_replays", 9, 70, false},
        Run{"pcie_replays", 9, nullptr, true}, Run{"nvlink_errors", crc(99), 0.5, false},
        Run{"nvlink_errors", crc(100), 0.5, true}, Run{"nvlink_errors", crc(100), 2, false}}) {
    ordered_json environment = environment_of(
        {{run.key, run.after.is_object() ? crc(0) : ordered_json(0)}}, {{run.key, run.after}});
    environment["duration_s"] = run.seconds;
    record_worn(environment);
    EXPECT_EQ(recorded_worn(environment).size(), run.worn ? 1U : 0U) << run.key << run.after;
    EXPECT_EQ(rare_link_errors(environment).size(), run.worn ? 0U : 1U) << run.key << run.after;
    EXPECT_THAT(worn_problems(environment), IsEmpty());
  }
}

TEST(Worn, AConditionThatSomebodyRemovedIsAProblem) {
  ordered_json environment = environment_of({{"xids", 0}}, {{"xids", 2}});
  EXPECT_THAT(worn_problems(environment),
              ElementsAre(AllOf(HasSubstr("the states show that cuda:1 counted faults"),
                                HasSubstr("conditions lack it"))));
  environment.erase("conditions");
  EXPECT_EQ(worn_problems(environment).size(), 1U);
}

TEST(Worn, ARareErrorOfALinkThatAnOlderVersionRecordedIsNoProblem) {
  ordered_json environment = environment_of({{"pcie_replays", 0}}, {{"pcie_replays", 1}});
  environment["conditions"].push_back(
      {{"code", "worn"},
       {"text", "cuda:1 counted faults during the run: pcie_replays grew from 0 to 1"},
       {"device", "cuda:1"},
       {"severe", false},
       {"counters", {{{"counter", "pcie_replays"}, {"before", 0}, {"after", 1}}}}});
  EXPECT_THAT(worn_problems(environment), IsEmpty());
}

TEST(Worn, ARunWithoutAnEndHasNone) {
  ordered_json environment = environment_of({{"xids", 0}}, {{"xids", 2}});
  environment["state"]["after"] = nullptr;
  EXPECT_THAT(worn_devices(environment), IsEmpty());
}

TEST(Worn, IsRecordedAnewAtTheEndOfAResumedRun) {
  ordered_json environment = environment_of({{"xids", 0}}, {{"xids", 2}});
  record_worn(environment);
  environment["state"]["after"]["cuda:1"]["xids"] = 3;
  EXPECT_THAT(worn_problems(environment), ElementsAre(HasSubstr("do not show that cuda:1")));
  record_worn(environment);
  EXPECT_THAT(recorded_worn(environment), ElementsAre(HasSubstr("grew from 0 to 3")));
  EXPECT_THAT(worn_problems(environment), IsEmpty());
}

}  // namespace
}  // namespace ridgebench
