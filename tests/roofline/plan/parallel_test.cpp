// The ways to spread a batch over devices, and the checklist before a training run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

const Roofs& check_device() {
  static const Roofs roofs(*find_data_sheet("h100-sxm"));
  return roofs;
}

// gpt-2: 12 layers of width 768, 124318464 parameters; 8 sequences of 1024 tokens.
TEST(PlanParallel, DividesStateActivationsAndTrafficInTheirOwnWays) {
  const ParallelQuestion question{.state = {},
                                  .activations = {.model = open_transformer("gpt-2"),
                                                  .context = 1024,
                                                  .batch = 8,
                                                  .micro_batches = 4},
                                  .ranks = 4,
                                  .link = Link{"made up", 1e9, "as given"}};
  const PlanAnswer answer = plan_parallel(question, &check_device());
  const auto row_of = [&](const char* way) -> const PlanAnswer& {
    for (const PlanAnswer& row : answer.at("ways")) {
      if (row.at("way") == way) return row;
    }
    throw std::out_of_range(way);
  };
  const auto value = [&](const char* way, const char* key) {
    return row_of(way).at(key).get<double>();
  };
  constexpr double kParameters = 124318464;
  EXPECT_DOUBLE_EQ(value("ZeRO stage 0", "state_bytes"), 12 * kParameters);
  constexpr double kTable = 50257 * 768;
  constexpr double kPositions = 1024 * 768;
  constexpr double kLayers = kParameters - kTable - kPositions;
  // The vocabulary is filled up to 4 x 12565 rows, and every rank has the positions.
  EXPECT_DOUBLE_EQ(value("tensor", "state_bytes"), 12 * (kLayers / 4 + 12565.0 * 768 + kPositions));
  EXPECT_DOUBLE_EQ(value("pipeline", "state_bytes"), 12 * (kLayers / 4 + kTable + kPositions))
      << "the first rank: three layers of twelve, and the embedding";
  EXPECT_DOUBLE_EQ(value("ZeRO stage 0", "communication_bytes"), 2 * 2 * kParameters * 3 / 4);
  const double tensor = 8.0 * 1024 * 768 * 2;
  // Four sums a layer, those of the embedding and of the head's input, and three fp32 numbers a
  // token of the loss.
  EXPECT_DOUBLE_EQ(value("tensor", "communication_bytes"),
                   (12 * 4 + 2) * 2 * tensor * 3 / 4 + 3 * 2 * (8.0 * 1024 * 4) * 3 / 4);
  // The largest layer is the head. Its gradient is whole until the ranks have summed it, and stage
  // 3 gathers its parameters, too.
  EXPECT_EQ(value("ZeRO stage 1", "layer_bytes"), 0);
  EXPECT_DOUBLE_EQ(value("ZeRO stage 2", "layer_bytes"), 2 * kTable);
  EXPECT_DOUBLE_EQ(value("ZeRO stage 3", "layer_bytes"), (2 + 2) * kTable);
  EXPECT_EQ(value("tensor", "layer_bytes"), 0);
  EXPECT_DOUBLE_EQ(value("ZeRO stage 3", "bytes"), value("ZeRO stage 3", "state_bytes") +
                                                       4 * kTable +
                                                       value("ZeRO stage 3", "activation_bytes"));
  EXPECT_DOUBLE_EQ(value("pipeline", "communication_bytes"), 2 * tensor);
  EXPECT_DOUBLE_EQ(value("pipeline", "idle_share"), 3.0 / 7);
  EXPECT_DOUBLE_EQ(value("pipeline", "link_time_s"), 2 * tensor / 1e9);
  // One sequence a micro-batch: a rank of ZeRO has two of its own, tensor parallelism a part of
  // two.
  EXPECT_DOUBLE_EQ(value("tensor", "activation_bytes"),
                   value("ZeRO stage 0", "activation_bytes") * 2 / 4);
  EXPECT_DOUBLE_EQ(value("pipeline", "activation_bytes"), 2 * 1024 * 16.0 * 768 * 2 * 12)
      << "the first rank holds a quarter of the layers for four micro-batches, and no logits";
  EXPECT_THAT(answer.at("note").get<std::string>(), HasSubstr("a rank between these"));
  ParallelQuestion two = question;
  two.ranks = 2;
  const PlanAnswer of_two = plan_parallel(two, nullptr);
  EXPECT_DOUBLE_EQ(of_two.at("ways").back().at("communication_bytes").get<double>(), tensor)
      << "the first of two ranks sends outputs only";
  EXPECT_EQ(of_two.at("note").get<std::string>().find("between"), std::string::npos);
  // Two sequences a rank, in two micro-batches.
  const double gradients = 2 * kParameters * 3 / 4;
  EXPECT_DOUBLE_EQ(value("ZeRO stage 1", "communication_bytes"), 2 * gradients);
  EXPECT_DOUBLE_EQ(value("ZeRO stage 2", "communication_bytes"), (2 + 1) * gradients)
      << "gradients of both, parameters once";
  EXPECT_DOUBLE_EQ(value("ZeRO stage 3", "communication_bytes"), 2 * (1 + 2) * gradients);
  ParallelQuestion many = question;
  many.ranks = 16;
  many.activations.batch = 16;
  EXPECT_THAT(plan_parallel(many, nullptr).at("note").get<std::string>(),
              HasSubstr("a layer for each rank"));
  many.ranks = 17;
  EXPECT_THAT(message_of<UsageError>([&] { (void)plan_parallel(many, nullptr); }),
              HasSubstr("--batch is 16; allowed: at least the ranks, 17"));
}

TEST(PlanCheck, SixRowsHaveVerdictsAndRemedies) {
  CheckQuestion question{.fits = {.state = {},
                                  .activations = {.model = open_transformer("llama-3-8b"),
                                                  .context = 4096,
                                                  .batch = 1},
                                  .stage = 0,
                                  .ranks = 8},
                         .tokens = 1e12,
                         .mfu = 0.4,
                         .days = 30,
                         .link = link_of("nvlink4")};
  const PlanAnswer answer = plan_check(question, check_device());
  ASSERT_EQ(answer.at("checks").size(), 6U);
  const auto pass = [](const PlanAnswer& one, std::size_t row) {
    return one.at("checks")[row].at("pass").get<bool>();
  };
  EXPECT_TRUE(pass(answer, 0)) << "16 GB of parameters";
  EXPECT_FALSE(pass(answer, 1)) << "96 GB of state";
  EXPECT_EQ(answer.at("checks")[1].at("remedy"), "--stage 1");
  EXPECT_FALSE(pass(answer, 3));
  EXPECT_TRUE(pass(answer, 4)) << "bf16 holds 1e-8";
  EXPECT_EQ(answer.at("pass"), false);
  // The remedies together pass.
  const auto gpus = answer.at("checks")[3].at("remedy").get<std::string>();
  question.fits.stage = 1;
  question.fits.ranks = std::stod(gpus.substr(gpus.find(' ')));
  EXPECT_TRUE(plan_check(question, check_device()).at("pass").get<bool>());
  question.format = Format::fp16;
  const PlanAnswer half = plan_check(question, check_device());
  EXPECT_FALSE(pass(half, 4));
  EXPECT_THAT(half.at("checks")[4].at("remedy").get<std::string>(), HasSubstr("loss scaling"));
  question.link = std::nullopt;
  EXPECT_THAT(message_of<UsageError>([&] { (void)plan_check(question, check_device()); }),
              HasSubstr("need --link"));
}

}  // namespace
}  // namespace ridgebench
