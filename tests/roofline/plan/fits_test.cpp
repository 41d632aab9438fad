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

constexpr double kLayerOutput = 2.0 * 1024 * 1024;  // bytes
constexpr double kPerRow = 4 * 1024;                // labels, or the loss

// 12 bytes a parameter, and 2 x 1024 x 1024 bytes of the output of each of 10 layers.
FitsQuestion question_of(double parameters) {
  return {.state = {.parameters = parameters},
          .activations = {.layers = 10, .width = 1024, .batch = 1024}};
}

TEST(PlanFits, PartsAddUp) {
  const PlanAnswer answer = plan_fits(question_of(6e9), roofs_of_h100());
  EXPECT_DOUBLE_EQ(bytes_of(answer, "parameters"), 12e9);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "gradients"), 12e9);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "adamw states"), 48e9);
  // The input and ten outputs, then two gradients of outputs and the loss.
  EXPECT_DOUBLE_EQ(bytes_of(answer, "activations"), 11 * kLayerOutput + kPerRow);
  EXPECT_DOUBLE_EQ(bytes_of(answer, "gradients of outputs, temporaries"),
                   2 * kLayerOutput + kPerRow);
  EXPECT_DOUBLE_EQ(answer.at("bytes").get<double>(), 72e9 + 13 * kLayerOutput + 2 * kPerRow);
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
  EXPECT_DOUBLE_EQ(answer.at("changes")[0].at("bytes").get<double>(),
                   60e9 + 13 * kLayerOutput + 2 * kPerRow);
}

TEST(PlanFits, ActivationsFitInMicroBatchesOrWithCheckpoints) {
  FitsQuestion question = question_of(5e9);  // 60 GB
  question.activations.width = 1000;
  question.activations.batch = 1.8e6;  // 3.6 GB an output
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  // The input, 2 outputs and 2 gradients are 18 GB. In 3 parts, 12 tensors are 14.4 GB.
  EXPECT_THAT(changes_of(answer),
              ::testing::IsSupersetOf({"--checkpoint full", "--micro-batches 3"}));
  EXPECT_NEAR(answer.at("changes")[0].at("bytes").get<double>(), 78e9, 0.02e9);
  EXPECT_NEAR(answer.at("changes")[1].at("bytes").get<double>(), 78e9, 0.02e9);
}

TEST(PlanFits, AllChangesTogetherWhereNoneIsEnough) {
  FitsQuestion question = question_of(100e9);
  question.activations.batch = 10e6;  // the input is 20.48 GB
  const std::vector<std::string> changes = changes_of(plan_fits(question, roofs_of_h100()));
  EXPECT_THAT(changes, ::testing::ElementsAre(HasSubstr("--stage 3 --micro-batches 10000000")));
  EXPECT_THAT(changes.front(), HasSubstr("--ranks 21"));
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

TEST(PlanFits, ATimelineHasItsPeakInThePhases) {
  FitsQuestion question = question_of(1e9);
  question.timeline = true;
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  const PlanAnswer& timeline = answer.at("timeline");
  ASSERT_EQ(timeline.size(), 10 + 1 + 10 + 2U);
  double most = 0;
  for (const PlanAnswer& band : timeline) {
    double sum = 0;
    for (const PlanAnswer& bytes : band.at("live")) sum += bytes.get<double>();
    EXPECT_DOUBLE_EQ(band.at("bytes").get<double>(), sum);
    most = std::max(most, sum);
  }
  EXPECT_DOUBLE_EQ(most, answer.at("bytes").get<double>());
  EXPECT_EQ(timeline.front().at("phase"), "forward");
  EXPECT_EQ(timeline[11].at("phase"), "backward");
  EXPECT_EQ(timeline[11].at("layer"), 10);
  EXPECT_DOUBLE_EQ(timeline.back().at("bytes").get<double>(), 12e9 + kLayerOutput + kPerRow)
      << "the state and the batch stay";
  question.activations = {.model = open_transformer("gpt-2"), .batch = 1};
  EXPECT_THAT(message_of<UsageError>([&] { (void)plan_fits(question, roofs_of_h100()); }),
              HasSubstr("allowed: --layers with --width"));
}

TEST(PlanMemory, LoraTrainsAdaptersOnly) {
  const PlanAnswer answer =
      plan_memory({.precision = "bf16-lora", .parameters = 1e9, .adapters = 0.01}, {}, nullptr);
  EXPECT_DOUBLE_EQ(answer.at("bytes_per_parameter").get<double>(), 2 + 0.01 * 12);
  const auto inference = plan_memory(
      {.precision = "bf16-lora", .optimizer = "none", .parameters = 8e9, .adapters = 0.5}, {},
      nullptr);
  EXPECT_DOUBLE_EQ(inference.at("bytes").get<double>(), 24e9);
  // The gradients of the adapters are reduced, and those that others updated are gathered.
  const auto sent = [](double stage) {
    return plan_zero({.precision = "bf16-lora", .parameters = 1e9, .adapters = 0.01}, stage, 2,
                     nullptr)
        .at("communication_bytes")
        .get<double>();
  };
  EXPECT_DOUBLE_EQ(sent(0), 2 * 0.02e9 / 2);
  EXPECT_DOUBLE_EQ(sent(1), 2 * 0.02e9 / 2);
  EXPECT_DOUBLE_EQ(sent(3), (0.02e9 + 2 * 2.02e9) / 2);
  for (const StateQuestion& bad :
       {StateQuestion{.precision = "bf16-lora", .parameters = 1},
        StateQuestion{.parameters = 1, .adapters = 0.01},
        StateQuestion{.precision = "bf16-lora", .parameters = 1, .adapters = 1.5}}) {
    EXPECT_THROW((void)plan_memory(bad, {}, nullptr), UsageError);
  }
}

TEST(PlanMemory, OffloadLeavesTheParametersOnTheDevice) {
  const PlanAnswer answer =
      plan_memory({.precision = "bf16-offload", .parameters = 1e9}, {}, nullptr);
  EXPECT_DOUBLE_EQ(answer.at("bytes_per_parameter").get<double>(), 2);
  EXPECT_DOUBLE_EQ(answer.at("host_bytes").get<double>(), (2 + 4 + 8) * 1e9);
  EXPECT_DOUBLE_EQ(answer.at("host_link_bytes").get<double>(), 4e9);
  const PlanAnswer rank =
      plan_zero({.precision = "bf16-offload", .parameters = 8e9}, 2, 8, nullptr);
  EXPECT_DOUBLE_EQ(rank.at("host_bytes").get<double>(), 14 * 1e9) << "its part of 8 ranks";
  EXPECT_DOUBLE_EQ(rank.at("host_link_bytes").get<double>(), 4 * 1e9);
  const PlanAnswer whole =
      plan_zero({.precision = "bf16-offload", .parameters = 8e9}, 1, 8, nullptr);
  EXPECT_DOUBLE_EQ(whole.at("host_link_bytes").get<double>(), 16e9 + 2e9) << "gradients whole";
  FitsQuestion question = question_of(30e9);
  question.state.precision = "bf16-offload";
  const PlanAnswer fits = plan_fits(question, roofs_of_h100());
  EXPECT_EQ(fits.at("fits"), true) << "60 GB of parameters";
  EXPECT_DOUBLE_EQ(fits.at("host_bytes").get<double>(), 14 * 30e9);
  EXPECT_THAT(
      message_of<UsageError>([&] {
        (void)plan_train(
            {.work = {.parameters = 1e9, .tokens = 1e9}, .mfu = 0.5, .state = question.state},
            &roofs_of_h100());
      }),
      HasSubstr("'bf16-offload'; allowed: bf16, fp32, bf16-master, fp32-bf16"));
}

// The device holds the gradient of one layer's weights, and the host holds the other gradients.
TEST(PlanFits, AnOffloadedGradientIsATemporaryOfTheDevice) {
  FitsQuestion question = question_of(6e9);
  question.state.precision = "bf16-offload";
  question.activations.layers = 2;
  question.activations.width = 4096;
  question.activations.batch = 64;
  question.timeline = true;
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  const double output = 2.0 * 64 * 4096;
  const double weight = 2.0 * 4096 * 4096;
  // Beside dz_2 and the gradient of W_2 lives h_1; then the input with its labels, and the loss.
  const double peak = 12e9 + weight + 2 * output + output + 2 * 4 * 64;
  EXPECT_DOUBLE_EQ(answer.at("bytes").get<double>(), peak);
  EXPECT_DOUBLE_EQ(answer.at("timeline")[3].at("bytes").get<double>(), peak) << "backward of 2";
  question.state.precision = "bf16-master";
  const PlanAnswer held = plan_fits(question, roofs_of_h100());
  EXPECT_DOUBLE_EQ(held.at("bytes").get<double>(), 96e9 + 5 * output + 2 * 4 * 64)
      << "each gradient has its place: F = L + 3, the input among them";
}

TEST(PlanFits, AnOffloadedModelHasItsLargestGradientOnTheDevice) {
  FitsQuestion question{.state = {.precision = "bf16-offload"},
                        .activations = {.model = open_transformer("llama-3-8b"), .batch = 1}};
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  EXPECT_DOUBLE_EQ(bytes_of(answer, "largest gradient, on its way to the host"),
                   2.0 * 128256 * 4096)
      << "that of lm_head";
  EXPECT_DOUBLE_EQ(
      answer.at("bytes").get<double>(),
      bytes_of(answer, "parameters") + bytes_of(answer, "activations") + 2.0 * 128256 * 4096);
}

TEST(PlanFits, ARankThatShardsGradientsHoldsTheLargestOneWhole) {
  FitsQuestion question{
      .state = {},
      .activations = {.model = open_transformer("llama-3-8b"), .context = 4096, .batch = 1},
      .stage = 2,
      .ranks = 8};
  constexpr double kHead = 128256.0 * 4096;  // the largest linear layer
  const auto part = [&](const char* name) {
    return bytes_of(plan_fits(question, roofs_of_h100()), name);
  };
  constexpr const char* kGradient = "largest gradient before its reduce-scatter";
  constexpr const char* kParameters = "gathered parameters of the largest layer";
  EXPECT_DOUBLE_EQ(part(kGradient), 2 * kHead);
  EXPECT_EQ(part(kParameters), 0);
  question.stage = 3;
  EXPECT_DOUBLE_EQ(part(kGradient), 2 * kHead);
  EXPECT_DOUBLE_EQ(part(kParameters), 2 * kHead);
  question.ranks = 1;
  EXPECT_EQ(part(kGradient) + part(kParameters), 0);
  question.ranks = 8;
  question.stage = 1;
  EXPECT_EQ(part(kGradient) + part(kParameters), 0);
}

TEST(PlanFits, AShardedGradientOfPlainLayersIsATemporary) {
  // A layer's weights are 512 MiB, and the tensors of its backward pass take 2 MiB.
  FitsQuestion question{.state = {.parameters = 1e9},
                        .activations = {.layers = 3, .width = 16384, .batch = 64},
                        .ranks = 4,
                        .timeline = true};
  constexpr double kWeights = 16384.0 * 16384 * 2;
  const auto temporaries = [&](double stage) {
    question.stage = stage;
    return bytes_of(plan_fits(question, roofs_of_h100()), "gradients of outputs, temporaries");
  };
  EXPECT_LT(temporaries(1), kWeights);
  EXPECT_GT(temporaries(2), kWeights);
  EXPECT_EQ(temporaries(3), temporaries(2));
  const PlanAnswer answer = plan_fits(question, roofs_of_h100());
  double peak = 0;
  for (const PlanAnswer& phase : answer.at("timeline")) {
    peak = std::max(peak, phase.at("bytes").get<double>());
    const bool gathers = !phase.at("layer").is_null();
    EXPECT_EQ(phase.at("live").at("gathered parameters of the largest layer"),
              gathers ? kWeights : 0);
  }
  EXPECT_DOUBLE_EQ(peak, answer.at("bytes").get<double>());
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
