// The results of a run must be sound, and verify must find every change of them.
#include "harness/results/verify/verify_results.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "harness/results/doubts.hpp"
#include "harness/results/verify/checksums.hpp"
#include "kernels/common/error.hpp"
#include "tests/support/simulated_run.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class VerifyResultsTest : public SimulatedRun {
 protected:
  void SetUp() override {
    use("sheet=h100-sxm");
    write_run(request("^relu/(naive|toy)/(fp32|fp16)/"));
    std::istringstream lines(text_of(run_ / "records.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      lines_.push_back(ordered_json::parse(line));
    }
  }

  // Returns the row that the tests change: a kernel with status ok.
  ordered_json& kernel() {
    const auto found = std::ranges::find_if(lines_, [](const ordered_json& line) {
      return line.at("role") == "kernel" && line.at("status") == "ok";
    });
    if (found == lines_.end()) throw std::logic_error("no kernel was measured");
    return *found;
  }

  // Writes the lines with their checksums and returns the problems that verify finds.
  std::vector<std::string> problems() {
    std::string text;
    for (const ordered_json& line : lines_) text += line.dump() + "\n";
    write_text(run_ / "records.jsonl", text);
    ResultsDirectory(run_, true).write_checksums();
    return verify_results(run_);
  }

  // Changes a key of environment.json and returns the problems that verify finds.
  std::vector<std::string> problems_with(const char* key, const ordered_json& value) {
    const std::string kept = text_of(run_ / "environment.json");
    ordered_json environment = ordered_json::parse(kept);
    environment.at(key) = value;
    write_text(run_ / "environment.json", environment.dump());
    std::vector<std::string> found = problems();
    write_text(run_ / "environment.json", kept);
    return found;
  }

  // Expects problems of one row only, and this problem among them.
  void expect_found(const std::string& problem) {
    const std::string id = kernel().at("id");
    EXPECT_THAT(problems(), Contains(AllOf(StartsWith(id + ": "), HasSubstr(problem))));
    for (const std::string& line : problems()) EXPECT_THAT(line, StartsWith(id));
  }

  std::vector<ordered_json> lines_;
};

TEST_F(VerifyResultsTest, ARunIsSound) {
  EXPECT_THAT(verify_results(run_), IsEmpty());
  EXPECT_THAT(problems(), IsEmpty()) << "written again, unchanged";
  EXPECT_TRUE(std::ranges::any_of(lines_, [](const auto& l) { return l["status"] == "skipped"; }));
}

TEST_F(VerifyResultsTest, AChangedSampleIsFound) {
  auto& samples = kernel().at("samples_s");
  for (auto& sample : samples) sample = 0.9 * sample.get<double>();
  expect_found("time_median_s is");
}

TEST_F(VerifyResultsTest, OneChangedSampleIsFound) {
  kernel().at("samples_s").at(0) = 1e-9;
  expect_found("time_min_s is");
}

TEST_F(VerifyResultsTest, SamplesThatAreNotThereAreMissed) {
  kernel().at("samples_s") = ordered_json::array();
  expect_found("an ok row needs samples");
}

TEST_F(VerifyResultsTest, ABatchWithoutItsLastSamplesIsFound) {
  kernel().at("samples_per_batch") = kernel().at("samples_s").size() - 1;
  expect_found("samples_s does not hold whole batches");
}

TEST_F(VerifyResultsTest, EveryChangedTimeIsFound) {
  for (const char* key :
       {"time_median_s", "time_ci_low_s", "time_ci_high_s", "time_min_s", "time_p10_s",
        "time_p90_s", "cycles_median", "cycles_ci_low", "cycles_ci_high"}) {
    const double time = kernel().at(key);
    kernel().at(key) = 0.99 * time;
    EXPECT_THAT(problems(), Contains(HasSubstr(std::string(key) + " is"))) << key;
    kernel().at(key) = time;
  }
}

TEST_F(VerifyResultsTest, ASampleWithoutItsClockIsFound) {
  kernel().at("clocks_hz").erase(0);
  expect_found("clocks_hz needs a clock for each sample");
}

// The tick of the process that resumed the run may differ from that of the first.
TEST_F(VerifyResultsTest, TheIntervalOfARowFollowsFromItsOwnTick) {
  ordered_json environment = ordered_json::parse(text_of(run_ / "environment.json"));
  for (auto& device : environment.at("devices")) device.at("event_tick_s") = 0.5;
  write_text(run_ / "environment.json", environment.dump());
  EXPECT_THAT(problems(), IsEmpty());
  kernel().at("tick_s") = 0.5;
  expect_found("time_ci_high_s is");
}

TEST_F(VerifyResultsTest, AnOlderRowHasTheTickOfItsDevice) {
  for (ordered_json& line : lines_) {
    for (const char* key : {"tick_s", "time_mean_s", "clocks_hz", "cycles_median", "cycles_ci_low",
                            "cycles_ci_high"}) {
      line.erase(key);
    }
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(VerifyResultsTest, ARunThatMeasuredNothingIsFound) {
  for (ordered_json& line : lines_) {
    if (line.at("role") != "kernel") continue;
    for (const auto& [key, value] : line.items()) {
      if (key.starts_with("time_") || key.ends_with("_per_s")) value = nullptr;
    }
    line.at("status") = "skipped";
    line.at("reason") = "it does not fit";
  }
  EXPECT_THAT(problems(), Contains(StartsWith("no row could be measured")));
}

TEST_F(VerifyResultsTest, EveryChangedRateIsFound) {
  for (const char* key : {"flops_per_s", "bytes_per_s", "intensity_flop_per_byte", "mfu"}) {
    const double rate = kernel().at(key);
    kernel().at(key) = 1.01 * rate;
    EXPECT_THAT(problems(), Contains(HasSubstr(std::string(key) + " is"))) << key;
    kernel().at(key) = rate;
  }
  kernel().at("flops_per_s") = nullptr;
  expect_found("flops_per_s is missing");
}

TEST_F(VerifyResultsTest, AMissingOrNeedlessFlagAboveTheRoofIsFound) {
  ordered_json& flags = kernel().at("flags");
  const auto flag = std::ranges::find(flags, "above_roof");
  const bool above = flag != flags.end();
  if (above) {
    flags.erase(flag);
  } else {
    flags.push_back("above_roof");
  }
  expect_found(above ? "not flagged above_roof" : "but below its measured roof");
}

TEST_F(VerifyResultsTest, WorkThatIsNotTheOperationsIsFound) {
  const double flops = kernel().at("flops");
  kernel().at("flops") = 2 * flops;
  expect_found("flops is");
  kernel().at("flops") = flops;
  kernel().at("bytes") = 2 * kernel().at("bytes").get<double>();
  expect_found("bytes is");
}

TEST_F(VerifyResultsTest, AnOkRowThatWasNotVerifiedIsFound) {
  const ordered_json verify = kernel().at("verify");
  kernel().at("verify").at("error") = 1.5;
  expect_found("must have passed verification");
  kernel().at("verify") = verify;
  kernel().at("verify").at("elements") = 0;
  expect_found("must have passed verification");
  kernel().at("verify") = nullptr;
  expect_found("must have passed verification");
}

TEST_F(VerifyResultsTest, AnImpossibleRateIsFound) {
  ordered_json& row = kernel();
  for (const char* key : {"time_median_s", "time_ci_low_s", "time_ci_high_s", "time_min_s",
                          "time_p10_s", "time_p90_s"}) {
    row.at(key) = row.at(key).get<double>() / 1e6;
  }
  for (auto& sample : row.at("samples_s")) sample = sample.get<double>() / 1e6;
  for (const char* key : {"flops_per_s", "bytes_per_s", "mfu"}) {
    row.at(key) = row.at(key).get<double>() * 1e6;
  }
  expect_found("miscounted");
}

TEST_F(VerifyResultsTest, OnAHostARateOfTwiceTheRoofMustBeSuspect) {
  ordered_json& row = kernel();
  row.at("device") = "cpu";
  row.at("flags") = {"above_roof"};
  for (const double times : {1.9, 2.1}) {
    row.at("roof").at("bytes_per_s") = row.at("bytes_per_s").get<double>() / times;
    row.at("fraction_of_measured_roof") = times;
    const bool found = std::ranges::any_of(problems(), [](const std::string& problem) {
      return problem.find("more than 100 % above its roof, but not suspect") != std::string::npos;
    });
    EXPECT_EQ(found, times > 2) << times;
  }
}

// The row by itself, as if no cache could serve it, under a roof of half its rate. A slow machine
// ends samples early.
TEST_F(VerifyResultsTest, ARateAboveWhatIsPossibleMustBeSuspect) {
  ordered_json& row = kernel();
  row.at("flags") = {"above_roof"};
  if (row.at("samples_s").size() < kEnoughSamples) row.at("flags").push_back(kFewSamples);
  row.at("roof").at("bytes_per_s") = row.at("bytes_per_s").get<double>() / 2;
  row.at("fraction_of_measured_roof") = 2;
  expect_found("more than 10 % above its roof, but not suspect");
  row.at("second_look") = {{"times_s", ordered_json::array()},
                           {"bytes_per_s", row.at("bytes_per_s")},
                           {"flops_per_s", nullptr}};
  // The row of the ceiling still has its own rate.
  const auto of_ceiling = StartsWith(row.at("id").get<std::string>() + ": roof.bytes_per_s is");
  EXPECT_THAT(problems(), ElementsAre(of_ceiling)) << "its ceiling had been slow";
  row.at("second_look") = nullptr;
  row.at("status") = "suspect";
  row.at("reason") = "faster than possible";
  row.at("flags") = ordered_json::array();
  for (const auto& [key, value] : row.items()) {
    const bool follows = key.starts_with("time_") || key.ends_with("ps_per_s") || key == "mfu" ||
                         key == "bytes_per_s" || key == "fraction_of_measured_roof";
    if (follows) value = nullptr;
  }
  EXPECT_THAT(problems(), ElementsAre(of_ceiling));
  row.at("roof").at("bytes_per_s") = 1e15;
  EXPECT_THAT(problems(), Contains(HasSubstr("suspect, but possible by its ceilings")));
}

TEST_F(VerifyResultsTest, AClaimBelowWhatWasSeenMustBeSuspect) {
  ordered_json& row = kernel();
  const double median_s = row.at("time_median_s").get<double>();
  row.at("seen_s") = median_s / 0.95;
  EXPECT_THAT(problems(), IsEmpty());
  row.at("seen_s") = 2 * median_s;
  expect_found("its process claims too little time, but it is not suspect");
}

TEST_F(VerifyResultsTest, TheFlagOfAnUnknownRoofIsChecked) {
  kernel().at("flags").push_back("unbounded");
  expect_found("unbounded is the flag of a kernel whose roof is not known");
}

TEST_F(VerifyResultsTest, AStatusWithoutItsReasonIsFound) {
  kernel().at("reason") = "none";
  expect_found("every status but ok needs a reason");
}

TEST_F(VerifyResultsTest, ARowThatComesTwiceIsFound) {
  const ordered_json copy = kernel();
  lines_.push_back(copy);
  expect_found("comes twice");
}

TEST_F(VerifyResultsTest, ADeviceThatTheEnvironmentDoesNotListIsFound) {
  kernel().at("device") = "cuda:0";
  expect_found("environment.json does not list its device");
}

TEST_F(VerifyResultsTest, EveryFileThatChangedAfterTheRunIsFound) {
  const std::string environment = text_of(run_ / "environment.json");
  write_text(run_ / "environment.json", environment + " ");
  EXPECT_THAT(verify_results(run_), ElementsAre(StartsWith("environment.json is not what")));
  write_text(run_ / "environment.json", environment);
  std::string records = text_of(run_ / "records.jsonl");
  records.insert(1, " ");  // the same JSON
  write_text(run_ / "records.jsonl", records);
  EXPECT_THAT(verify_results(run_), ElementsAre(StartsWith("records.jsonl is not what")));
}

TEST_F(VerifyResultsTest, ARunThatDidNotFinishIsFound) {
  std::filesystem::remove(run_ / "SHA256SUMS");
  EXPECT_THAT(verify_results(run_), ElementsAre(HasSubstr("SHA256SUMS is missing")));
}

TEST_F(VerifyResultsTest, ARunWithChecksumsThatSaysThatItDidNotEndIsFound) {
  EXPECT_THAT(problems_with("interrupted", true),
              ElementsAre("environment.json: the run was interrupted"));
  EXPECT_THAT(problems_with("ended", nullptr), ElementsAre("environment.json: the run has no end"));
  const std::string records = text_of(run_ / "records.jsonl");
  write_text(run_ / "records.jsonl", records.substr(0, records.size() - 1));
  write_sums(run_, checked_files(run_));
  EXPECT_THAT(verify_results(run_), ElementsAre("records.jsonl: the last line was cut off"));
}

TEST_F(VerifyResultsTest, AValueThatTheSchemaOfTheEnvironmentDoesNotAllowIsFound) {
  EXPECT_THAT(
      problems_with("method_version", "7"),
      ElementsAre(StartsWith("environment.json: method_version is \"7\"; allowed: integer")));
  EXPECT_THAT(
      problems_with("method_version", nullptr),
      ElementsAre(StartsWith("environment.json: method_version is null; allowed: a value")));
  EXPECT_THAT(problems_with("method_version", 7.5),
              ElementsAre(StartsWith("environment.json: method_version is 7.5")));
  EXPECT_THAT(problems_with("started", "yesterday"),
              ElementsAre(StartsWith("environment.json: started is \"yesterday\"")));
}

TEST_F(VerifyResultsTest, AnOlderMethodThanTheKeysIsFound) {
  for (const int method : {0, 3, 6}) {
    EXPECT_THAT(problems_with("method_version", method),
                Contains(StartsWith(fmt::format("environment.json: method_version is {}, but the "
                                                "keys controls, doubted, fingerprint",
                                                method))));
  }
  EXPECT_THAT(problems_with("method_version", 8), IsEmpty());
}

TEST_F(VerifyResultsTest, ARunWithoutItsControlsIsFound) {
  EXPECT_THAT(problems_with("doubted", nullptr),
              ElementsAre("environment.json: a run that ended has controls and doubted"));
}

TEST_F(VerifyResultsTest, EveryKeyThatContradictsAnotherIsFound) {
  ordered_json& row = kernel();
  const ordered_json kept = row;
  const auto expect = [&](const char* key, const ordered_json& value, const char* problem) {
    row.at(key) = value;
    EXPECT_THAT(problems(), Contains(HasSubstr(problem))) << key;
    row = kept;
  };
  expect("technique", "magic", "its keys make the id relu/magic/");
  expect("regime", "cold", "/cold@sim");
  expect("role", "control", "its keys make the id");
  expect("backend", "cuda", "backend is cuda, but that of sim is cpu");
  expect("seed", 99, "seed is not that of environment.json");
  expect("fill", "zeros", "fill is not that of environment.json");
  expect("time_mean_s", kept.at("time_mean_s").get<double>() / 3, "time_mean_s is");
  expect("clock_hz", kept.at("clock_hz").get<double>() * 2, "clock_hz is");
  expect("mfu", nullptr, "mfu is missing");
  const bool few = std::ranges::find(kept.at("flags"), "few_samples") != kept.at("flags").end();
  expect("flags", few ? ordered_json::array() : ordered_json::array({"few_samples"}),
         "few_samples is the flag");
}

TEST_F(VerifyResultsTest, AnMfuWithoutADataSheetIsFound) {
  ordered_json environment = ordered_json::parse(text_of(run_ / "environment.json"));
  for (auto& device : environment.at("devices")) device.at("data_sheet") = nullptr;
  write_text(run_ / "environment.json", environment.dump());
  EXPECT_THAT(problems(), Contains(HasSubstr("mfu is set without a data sheet")));
}

TEST_F(VerifyResultsTest, ARoofThatItsCeilingsDoNotHaveIsFound) {
  ordered_json& row = kernel();
  const ordered_json roof = row.at("roof");
  row.at("roof").at("bytes_per_s") = 2 * roof.at("bytes_per_s").get<double>();
  expect_found("roof.bytes_per_s is");
  row.at("roof") = roof;
  row.at("roof").at("memory_ceiling") = "dram_copy/none";
  expect_found("roof.memory_ceiling is dram_copy/none, which is not a verified ceiling of the run");
  row.at("roof") = roof;
  std::erase_if(lines_, [](const ordered_json& line) { return line.at("role") != "kernel"; });
  EXPECT_THAT(problems(), Contains(HasSubstr("which is not a verified ceiling of the run")));
}

TEST_F(VerifyResultsTest, AnEmptyRunIsFound) {
  lines_.clear();
  EXPECT_THAT(problems(), Contains(HasSubstr("holds no row")));
}

TEST_F(VerifyResultsTest, FilesThatCannotBeReadAreUsageErrors) {
  write_text(run_ / "records.jsonl", "nonsense\n");
  EXPECT_THROW(verify_results(run_), UsageError);
  std::filesystem::remove(run_ / "environment.json");
  EXPECT_THROW(verify_results(run_), UsageError);
  EXPECT_THROW(verify_results(folder_ / "none"), UsageError);
}

}  // namespace
}  // namespace ridgebench
