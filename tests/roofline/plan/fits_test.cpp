#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

const Roofs& roofs_of_h100() {
  static const Roofs roofs(*find_data_sheet("h100-sxm"));
  return roofs;
}

double bytes_of(const PlanAnswer& answer, const std::string& part) {
  for (const PlanAnswer& one : answer.at("parts")) {
    if (one.at("name") == part) return one.at("bytes").get<double>();
  }
  return 0;
}

std::vector<std::string> changes_of(const PlanAnswer& answer) {
  std::vector<std::string> changes;
  for (const PlanAnswer& one : answer.at("changes")) {
    changes.push_back(one.at("change").get<std::string>());
  }
  return changes;
}

// 12 bytes a parameter, and 2 x 1000 x 1000 bytes of activations in each of 10 layers.
FitsQuestion question_of(double parameters) {
  return {.state = {.parameters = parameters},
          .activations = {.layers = 10, .width = 1000, .batch = 1000}};
}

TEST(PlanFits, PartsAddUp) {
  const PlanAnswer answer = plan_fits(question_of(6e9), roofs_of_h100());
  EXPECT_DOUBLE_EQ(bytes_of(answer, "parameters"), 12e9);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "gradients"), 12e9);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "adamw states"), 48e9);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "activations"), 20e6);
  EXPECT_DOUBLE_EQ(answer.at("bytes").get<double>(), 72.02e9);
  EXPECT_EQ(answer.at("fits"), true);
  EXPECT_TRUE(answer.at("changes").empty());
}

TEST(PlanFits, EachChangeMakesItFit) {
  FitsQuestion question = question_of(10e9);  // 120 GB
  question.ranks = 4;
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  EXPECT_EQ(answer.at("fits"), false);
  // Stage 1 leaves 40 + 80 / 4 GB. It fits from 3 ranks on, and 4 are there.
  EXPECT_THAT(changes_of(answer), ::testing::ElementsAre("--stage 1"));
  EXPECT_DOUBLE_EQ(answer.at("changes")[0].at("bytes").get<double>(), 60.02e9);
}

TEST(PlanFits, ActivationsFitInMicroBatchesOrWithCheckpoints) {
  FitsQuestion question = question_of(5e9);  // 60 GB
  question.activations.batch = 4e6;          // 80 GB in 10 layers
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  // sqrt keeps 4 + 3 - 1 layers, 48 GB; full keeps 2, 16 GB. Four parts are 20 GB.
  EXPECT_THAT(changes_of(answer),
              ::testing::IsSupersetOf({"--checkpoint full", "--micro-batches 4"}));
  EXPECT_DOUBLE_EQ(answer.at("changes")[1].at("bytes").get<double>(), 80e9);
}

TEST(PlanFits, AllChangesTogetherWhereNoneIsEnough) {
  FitsQuestion question = question_of(100e9);
  question.activations.batch = 100e6;  // 2 TB
  const std::vector<std::string> changes = changes_of(plan_fits(question, roofs_of_h100()));
  EXPECT_THAT(changes, ::testing::ElementsAre(HasSubstr("--stage 3 --micro-batches 100000000")));
  EXPECT_THAT(changes.front(), HasSubstr("--ranks 16"));
}

TEST(PlanFits, ARowThatIsTooLargeIsSaid) {
  FitsQuestion question = question_of(1e9);
  question.activations = {.layers = 2, .width = 1e11, .batch = 1};
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  EXPECT_TRUE(answer.at("changes").empty());
  EXPECT_THAT(answer.at("note").get<std::string>(), HasSubstr("nothing helps"));
}

TEST(PlanFits, AModelGivesItsParametersAndLayers) {
  const FitsQuestion question{
      .state = {},
      .activations = {.model = open_transformer("llama-3-8b"), .context = 4096, .batch = 1},
      .stage = 3,
      .ranks = 8};
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  EXPECT_NEAR(answer.at("parameters").get<double>(), 8.03e9, 0.01e9);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "parameters"), answer.at("parameters").get<double>() * 2 / 8);
}

TEST(PlanFitsErrors, WhatIsMissingIsNamed) {
  const auto refusal = [](const FitsQuestion& question) {
    return message_of<UsageError>([&] { (void)plan_fits(question, roofs_of_h100()); });
  };
  EXPECT_THAT(refusal({.state = {}, .activations = {.layers = 1, .width = 1, .batch = 1}}),
              HasSubstr("--model CONFIG"));
  EXPECT_THAT(refusal({.state = {.parameters = 1}, .activations = {.batch = 1}}),
              HasSubstr("--layers with --width"));
  FitsQuestion both = question_of(1e9);
  both.activations.model = open_transformer("gpt-2");
  EXPECT_THAT(refusal(both), HasSubstr("leave out --layers"));
}

TEST(PlanZero, ARankSendsWhatARingNeeds) {
  const auto sent = [](const StateQuestion& question, double stage) {
    return plan_zero(question, stage, 8, nullptr).at("communication_bytes").get<double>();
  };
  const StateQuestion bf16{.parameters = 8e9};
  const double pass = 16e9 * 7 / 8;  // a reduce-scatter or an all-gather
  EXPECT_DOUBLE_EQ(sent(bf16, 0), 2 * pass);
  EXPECT_DOUBLE_EQ(sent(bf16, 2), 2 * pass);
  EXPECT_DOUBLE_EQ(sent(bf16, 3), 3 * pass);
  const StateQuestion mixed{.precision = "fp32-bf16", .parameters = 8e9};
  EXPECT_DOUBLE_EQ(sent(mixed, 0), 2 * pass);
  EXPECT_DOUBLE_EQ(sent(mixed, 1), 3 * pass) << "parameters are twice as wide as gradients";
  const StateQuestion inference{.optimizer = "none", .parameters = 8e9};
  EXPECT_DOUBLE_EQ(sent(inference, 2), 0);
  EXPECT_DOUBLE_EQ(sent(inference, 3), pass);
}

TEST(PlanZero, ATableHasAllStages) {
  const PlanAnswer answer = plan_zero({.parameters = 1e9}, {}, 4, nullptr);
  ASSERT_EQ(answer.at("stages").size(), 4U);
  for (double stage = 0; stage < 4; ++stage) {
    const PlanAnswer& row = answer.at("stages")[static_cast<std::size_t>(stage)];
    EXPECT_DOUBLE_EQ(row.at("stage").get<double>(), stage);
    EXPECT_EQ(row.at("bytes"), plan_zero({.parameters = 1e9}, stage, 4, nullptr).at("bytes"));
  }
}

}  // namespace
}  // namespace ridgebench
