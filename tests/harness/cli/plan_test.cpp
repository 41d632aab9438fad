#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/cli/commands.hpp"
#include "kernels/common/error.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using testing::engine_ceiling;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;
using testing::row;
using testing::Rows;
using testing::WrittenResults;

// Returns what the command prints to stdout.
std::string output_of(std::vector<std::string> arguments) {
  CLI::App app;
  add_plan_command(app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 parses the last one first
  ::testing::internal::CaptureStdout();
  try {
    app.parse(arguments);
  } catch (...) {
    (void)::testing::internal::GetCapturedStdout();
    throw;
  }
  (void)std::fflush(stdout);
  return ::testing::internal::GetCapturedStdout();
}

nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return nlohmann::json::parse(output_of(std::move(arguments)));
}

TEST(PlanCommand, TrainsSeventyBillionParameters) {
  const auto answer = json_of({"plan", "train", "--params", "70e9", "--tokens", "15e12", "--gpus",
                               "1024", "--mfu", "0.5", "--on", "h100-sxm"});
  EXPECT_NEAR(answer.at("days").get<double>(), 143.9, 0.05);
  EXPECT_EQ(answer.at("plan"), "train");
}

TEST(PlanCommand, FindsTheLargestModel) {
  const std::vector<std::string> arguments{"plan",        "memory", "--gpus", "8",
                                           "--optimizer", "adamw",  "--on",   "h100-sxm"};
  EXPECT_NEAR(json_of(arguments).at("parameters").get<double>(), 53.3e9, 0.05e9);
}

TEST(PlanCommand, PrintsTensorsInMiB) {
  EXPECT_THAT(output_of({"plan", "tensor", "--shape", "49152x12288", "--format", "fp32"}),
              HasSubstr("2304 MiB"));
}

TEST(PlanCommand, ServesZeroAndActivations) {
  EXPECT_DOUBLE_EQ(json_of({"plan", "zero", "--stage", "3", "--ranks", "4", "--parameters", "4e9"})
                       .at("bytes")
                       .get<double>(),
                   12e9);
  EXPECT_DOUBLE_EQ(json_of({"plan", "activations", "--layers", "2", "--width", "3", "--batch", "5",
                            "--pre-activations"})
                       .at("bytes")
                       .get<double>(),
                   2 * 2 * 2 * 3 * 5);
}

TEST(PlanCommand, TakesTheMfuFromAResultsDirectory) {
  const WrittenResults directory(
      Rows{row("best", {{"format", "bf16"}, {"mfu", 0.5}}),
           engine_ceiling("tensor", "tensor", "bf16", 840e12)},
      {{{"name", "cpu"}, {"model", "H100"}, {"memory_bytes", 80e9}, {"data_sheet", "h100-sxm"}}});
  const std::string path = directory.path().string();
  for (const std::string& device : {std::string("h100-sxm"), path}) {
    const auto answer =
        json_of({"plan", "train", "--flops", "1e23", "--on", device, "--mfu", path});
    EXPECT_EQ(answer.at("inputs").at("mfu_row"), "best");
    EXPECT_DOUBLE_EQ(answer.at("days").get<double>(), 1e23 / (0.5 * 989.5e12) / 86400);
  }
  EXPECT_THAT(
      message_of<UsageError>([&] {
        (void)output_of({"plan", "train", "--flops", "1e23", "--on", "b200", "--mfu", path});
      }),
      HasSubstr("allowed: --on h100-sxm"));
}

TEST(PlanCommand, NumbersHaveOneGrammar) {
  const auto days = [](const char* parameters, const char* tokens, const char* mfu) {
    return json_of({"plan", "train", "--params", parameters, "--tokens", tokens, "--gpus", "1k",
                    "--mfu", mfu, "--on", "H100"})
        .at("days");
  };
  EXPECT_EQ(days("70B", "15T", "40%"), days("70e9", "15e12", "0.4"));
  EXPECT_EQ(json_of({"plan", "tensor", "--shape", "4kx1e3"}).at("bytes"), 8e6);
  EXPECT_THAT(
      message_of<UsageError>(
          [] { (void)output_of({"plan", "train", "--params", "70%", "--tokens", "15T"}); }),
      HasSubstr("--parameters or --params is '70%'; allowed: a number above 0, such as 4096"));
}

TEST(PlanCommand, JsonEchoesANumberAsItWasGiven) {
  EXPECT_THAT(output_of({"plan", "train", "--flops", "1e23", "--json"}),
              AllOf(HasSubstr("1e+23"), Not(HasSubstr("9.99"))));
}

TEST(PlanCommand, PrintsUnitsThatPeopleRead) {
  EXPECT_THAT(output_of({"plan", "train", "--params", "70B", "--tokens", "15T", "--gpus", "1024",
                         "--mfu", "50%", "--on", "h100"}),
              AllOf(HasSubstr("989.5 TFLOP/s"), HasSubstr("506.6 PFLOP/s"), HasSubstr("143.9 days"),
                    HasSubstr("147381 days"), HasSubstr("6.3e+24 FLOP")));
}

TEST(PlanCommand, RefusesNonsenseWithAUsageError) {
  const auto rejection = [](const std::vector<std::string>& arguments) {
    return message_of<UsageError>([&] { (void)output_of(arguments); });
  };
  EXPECT_THAT(rejection({"plan", "memory", "--on", "h300"}), HasSubstr("unknown device"));
  EXPECT_THAT(rejection({"plan", "tensor", "--shape", "4", "--format", "fp3"}),
              HasSubstr("--format is 'fp3'; allowed: "));
  EXPECT_THAT(rejection({"plan", "train", "--flops", "1e20", "--on", "l4", "--mfu", "half"}),
              HasSubstr("--mfu is 'half'"));
  EXPECT_THAT(rejection({"plan", "train", "--flops", "nan"}), HasSubstr("--flops is 'nan'"));
}

TEST(PlanCommand, NeedsAQuestion) {
  EXPECT_THROW((void)output_of({"plan"}), CLI::ParseError);
  EXPECT_THROW((void)output_of({"plan", "weather"}), CLI::ParseError);
}

}  // namespace
}  // namespace ridgebench
