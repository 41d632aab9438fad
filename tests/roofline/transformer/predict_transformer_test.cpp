#include "roofline/transformer/predict_transformer.hpp"

#include <gmock/gmock.h>

#include "kernels/common/error.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/transformer/operations.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

const Operation& product_operation() { return Registry::instance().operation("matmul"); }

std::optional<double> never_measured(std::string_view /*operation*/, const Shape& /*shape*/) {
  return std::nullopt;
}

ordered_json on_h100(const Transformer& model, const TransformerQuestion& question,
                     const AchievedTime& achieved = never_measured) {
  return predict_transformer(product_operation(), model, question,
                             Roofs(*find_data_sheet("h100-sxm")), achieved);
}

// 2 layers of width 8 with 4 heads of 2, 2 heads of keys and values, and a vocabulary of 100.
Transformer tiny_model() {
  return {.name = "tiny",
          .layers = 2,
          .width = 8,
          .vocabulary = 100,
          .attentions = {{.layers = 2, .heads = 4, .kv_heads = 2, .head_dim = 2, .value_dim = 2}},
          .networks = {{.prefix = "", .layers = 2, .width = 20}}};
}

const ordered_json& row_named(const ordered_json& phase, const std::string& label,
                              const char* pass = "forward") {
  for (const ordered_json& row : phase.at("operations")) {
    if (row.at("name") == label && row.at("pass") == pass) return row;
  }
  throw std::out_of_range(label);
}

TEST(PredictTransformer, LinearOperationsOfALayerOfLlama3OnAnH100) {
  const ordered_json answer =
      on_h100(open_transformer("llama-3-8b"),
              {.batches = {1, 64, 512}, .context = 4096, .format = Format::bf16});
  const ordered_json& phases = answer.at("phases");
  ASSERT_THAT(phases, SizeIs(4));
  const double expected_us[] = {1806, 130, 133, 226};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_NEAR(phases[i].at("layer_linear_s").get<double>() * 1e6 / expected_us[i], 1, 0.01) << i;
  }
  EXPECT_EQ(phases[0].at("phase"), "prefill");
  EXPECT_EQ(phases[0].at("tokens"), 4096);
  EXPECT_EQ(phases[3].at("phase"), "decode");
  EXPECT_EQ(phases[3].at("tokens"), 512);
}

TEST(PredictTransformer, FlopsWithoutBytesAndPeakHaveNoTime) {
  const TransformerQuestion training{
      .batches = {1}, .context = 16, .format = Format::bf16, .training = true};
  const auto phase_on = [&](const Roofs& roofs) {
    return predict_transformer(product_operation(), tiny_model(), training, roofs, never_measured)
        .at("phases")
        .at(0);
  };
  Roofs roofs(*find_data_sheet("tpu-v5e"));
  for (const char* const pass : {"forward", "backward"}) {
    const ordered_json phase = phase_on(roofs);
    const ordered_json& softmax = row_named(phase, "softmax", pass);
    EXPECT_EQ(softmax.at("bytes"), 0);
    for (const char* const key : {"bound", "time_lower_bound_s", "share"}) {
      EXPECT_TRUE(softmax.at(key).is_null()) << key;
    }
    EXPECT_EQ(row_named(phase, "norm", pass).at("bound"), "memory");
  }
  const ordered_json with_peak = phase_on(Roofs(*find_data_sheet("h100-sxm")));
  EXPECT_EQ(row_named(with_peak, "softmax").at("bound"), "compute");
  roofs.add({Resource::sfu, Format::fp32, 0, 1e9, "sfu"});
  const ordered_json with_special = phase_on(roofs);
  EXPECT_EQ(row_named(with_special, "softmax").at("bound"), "special");
  EXPECT_GT(row_named(with_special, "softmax").at("time_lower_bound_s"), 1e-9);
}

TEST(PredictTransformer, KeysAndValuesOfTheContextAreReadForEveryToken) {
  const ordered_json answer =
      on_h100(tiny_model(), {.batches = {3}, .context = 10, .format = Format::bf16});
  const ordered_json& decode = answer.at("phases").at(1);
  const ordered_json& scores = row_named(decode, "scores");
  EXPECT_DOUBLE_EQ(scores.at("flops"), 3 * 2.0 * 10 * 8);
  EXPECT_DOUBLE_EQ(scores.at("bytes"), 3 * 2.0 * (8 + 10 * 4));
  EXPECT_EQ(scores.at("role"), "attention");
  EXPECT_TRUE(scores.at("shape").is_null());
  EXPECT_DOUBLE_EQ(row_named(decode, "values").at("bytes"), 3 * 2.0 * (10 * 4 + 8));
  EXPECT_DOUBLE_EQ(answer.at("kv_cache_bytes_per_token"), 2 * 2 * 4 * 2);
  EXPECT_DOUBLE_EQ(decode.at("kv_cache_bytes"), 3 * 10 * 32);
  // The prompt's mask leaves 10 x 11 / 2 pairs.
  const ordered_json& prefill = answer.at("phases").at(0);
  EXPECT_DOUBLE_EQ(row_named(prefill, "scores").at("flops"), 2.0 * 55 * 8);
  EXPECT_DOUBLE_EQ(row_named(prefill, "values").at("bytes"), 2.0 * 10 * (4 + 8));
  EXPECT_EQ(row_named(prefill, "lm_head").at("shape").at("m"), 1);
  EXPECT_EQ(row_named(decode, "lm_head").at("shape").at("m"), 3);
}

TEST(PredictTransformer, SumsFollowFromTheRows) {
  const ordered_json answer = on_h100(open_transformer("mixtral-8x7b"),
                                      {.batches = {5}, .context = 4096, .format = Format::bf16});
  for (const ordered_json& phase : answer.at("phases")) {
    double flops = 0;
    double time_s = 0;
    double share = 0;
    for (const ordered_json& row : phase.at("operations")) {
      const auto layers = row.at("layers").get<double>();
      flops += layers * row.at("flops").get<double>();
      time_s += layers * row.at("time_lower_bound_s").get<double>();
      share += row.at("share").get<double>();
    }
    EXPECT_DOUBLE_EQ(phase.at("flops"), flops);
    EXPECT_DOUBLE_EQ(phase.at("time_lower_bound_s"), time_s);
    EXPECT_NEAR(share, 1, 1e-12);
    EXPECT_DOUBLE_EQ(phase.at("tokens_per_s").get<double>() * time_s,
                     phase.at("tokens").get<double>());
  }
}

TEST(PredictTransformer, ActiveExpertsShareTheTokensEvenly) {
  Transformer model = tiny_model();
  model.networks = {{.prefix = "expert_", .layers = 2, .width = 20, .experts = 8, .active = 2}};
  const auto up_of = [&](std::int64_t tokens) {
    std::vector<std::string> texts;
    for (const auto& p : linear_products(product_operation(), model, tokens, tokens, false)) {
      if (p.name != "expert_gate_up") continue;
      texts.push_back(std::to_string(p.products) + " " + p.shape.text());
    }
    return texts;
  };
  EXPECT_THAT(up_of(1), ElementsAre("2 m:1/n:40/k:8/layout:nt"));
  EXPECT_THAT(up_of(5), ElementsAre("6 m:1/n:40/k:8/layout:nt", "2 m:2/n:40/k:8/layout:nt"));
  EXPECT_THAT(up_of(4096), ElementsAre("8 m:1024/n:40/k:8/layout:nt"));
}

TEST(PredictTransformer, TrainingIsSixFlopsPerActiveParameterAndToken) {
  Transformer model = open_transformer("qwen3-30b-a3b");
  model.tied = true;          // the embedding itself is not a product
  model.more_parameters = 0;  // nor are routers
  const ordered_json answer =
      on_h100(model, {.batches = {3}, .context = 1000, .format = Format::bf16, .training = true});
  ASSERT_THAT(answer.at("phases"), SizeIs(1));
  const ordered_json& phase = answer.at("phases").at(0);
  double linear = 0;
  for (const ordered_json& row : phase.at("operations")) {
    if (row.at("role") != "linear") continue;
    linear += row.at("layers").get<double>() * row.at("flops").get<double>();
  }
  EXPECT_NEAR(linear / (6 * active_parameters(model) * 3000), 1, 1e-12);
  EXPECT_DOUBLE_EQ(row_named(phase, "scores", "backward").at("flops"),
                   2 * row_named(phase, "scores").at("flops").get<double>());
}

// The tensors of one token in bf16: rows of width 8, a gated network of 20, 100 logits.
TEST(PredictTransformer, AStepHasNormsResidualsActivationsSoftmaxAndTheLoss) {
  const ordered_json answer = on_h100(
      tiny_model(), {.batches = {3}, .context = 10, .format = Format::bf16, .training = true});
  const ordered_json& phase = answer.at("phases").at(0);
  constexpr double kTinyTokens = 30;
  const auto moved = [&](const char* row, const char* pass) {
    return row_named(phase, row, pass).at("bytes").get<double>() / (2 * kTinyTokens);
  };
  EXPECT_DOUBLE_EQ(moved("norm", "forward"), 2 * 8);
  EXPECT_DOUBLE_EQ(moved("norm", "backward"), 3 * 8);
  EXPECT_DOUBLE_EQ(moved("residual", "forward"), 3 * 8);
  EXPECT_DOUBLE_EQ(moved("activation", "forward"), 3 * 20);
  EXPECT_DOUBLE_EQ(moved("activation", "backward"), 5 * 20);
  EXPECT_DOUBLE_EQ(moved("loss", "forward"), 2 * 100);
  EXPECT_EQ(row_named(phase, "norm").at("layers"), 5) << "two of each layer and the last one";
  EXPECT_EQ(row_named(phase, "residual").at("layers"), 4);
  const ordered_json& softmax = row_named(phase, "softmax");
  EXPECT_DOUBLE_EQ(softmax.at("flops"), 5.0 * 3 * 4 * 55) << "4 heads, 10 x 11 / 2 pairs";
  EXPECT_DOUBLE_EQ(softmax.at("bytes"), 0) << "fused attention keeps scores on the chip";
  EXPECT_EQ(softmax.at("role"), "attention");
  EXPECT_TRUE(softmax.at("intensity_flop_per_byte").is_null());
  Transformer plain = tiny_model();
  plain.networks.front().gated = false;
  const ordered_json other =
      on_h100(plain, {.batches = {3}, .context = 10, .format = Format::bf16, .training = true});
  EXPECT_DOUBLE_EQ(row_named(other.at("phases").at(0), "activation").at("bytes"), 60 * 2 * 20);
}

TEST(PredictTransformer, TheOptimizerReadsAndWritesItsStateOnce) {
  const auto step = [](const char* precision, const char* optimizer) {
    const ordered_json answer =
        on_h100(tiny_model(), {.batches = {1},
                               .context = 10,
                               .format = Format::bf16,
                               .training = true,
                               .state = {.precision = precision, .optimizer = optimizer}});
    const ordered_json& row = row_named(answer.at("phases").at(0), optimizer, "step");
    EXPECT_EQ(row.at("role"), "optimizer");
    return row.at("bytes").get<double>() / answer.at("parameters").get<double>();
  };
  EXPECT_DOUBLE_EQ(step("fp32", "adamw"), 16 + 12);
  EXPECT_DOUBLE_EQ(step("bf16", "adamw"), 12 + 10);
  EXPECT_DOUBLE_EQ(step("bf16-master", "adamw"), 14 + 14);
  EXPECT_DOUBLE_EQ(step("fp32-bf16", "adamw"), 14 + 12);
  EXPECT_DOUBLE_EQ(step("fp32", "momentum"), 20);
  EXPECT_DOUBLE_EQ(step("bf16", "lion"), 14);
  EXPECT_DOUBLE_EQ(step("bf16-master", "momentum"), 20);
  EXPECT_DOUBLE_EQ(step("fp32-bf16", "lion"), 18);
  EXPECT_DOUBLE_EQ(step("fp32", "sgd"), 12);
  EXPECT_DOUBLE_EQ(step("bf16", "sgd"), 6);
  EXPECT_DOUBLE_EQ(step("bf16-master", "sgd"), 12);
  EXPECT_DOUBLE_EQ(step("fp32-bf16", "sgd"), 10);
  EXPECT_THROW((void)step("bf16", "none"), UsageError);
}

TEST(PredictTransformer, AStepFitsIfPlanFitsSaysSo) {
  const Roofs h100(*find_data_sheet("h100-sxm"));
  for (const char* const name : {"gpt-2-xl", "llama-3-8b"}) {
    const Transformer model = open_transformer(name);
    for (const std::int64_t batch : {1, 8, 64}) {
      const ordered_json phase =
          on_h100(model,
                  {.batches = {batch}, .context = 1024, .format = Format::bf16, .training = true})
              .at("phases")
              .at(0);
      const PlanAnswer plan = plan_fits(
          {.state = {},
           .activations = {.model = model, .context = 1024, .batch = static_cast<double>(batch)}},
          h100);
      EXPECT_EQ(phase.at("fits"), plan.at("fits")) << name << " " << batch;
      EXPECT_DOUBLE_EQ(
          phase.at("state_bytes").get<double>() + phase.at("activation_bytes").get<double>(),
          plan.at("bytes").get<double>());
    }
  }
}

TEST(PredictTransformer, TheBackwardProductsHaveTheirLayouts) {
  std::vector<std::string> texts;
  for (const auto& p : linear_products(product_operation(), tiny_model(), 5, 5, true)) {
    if (p.name == "down") texts.push_back(std::string(name(p.pass)) + " " + p.shape.text());
  }
  EXPECT_THAT(texts, ElementsAre("forward m:5/n:8/k:20/layout:nt", "dX m:5/n:20/k:8/layout:nn",
                                 "dW m:8/n:20/k:5/layout:tn"));
}

TEST(PredictTransformer, SaysWhichBatchFits) {
  const ordered_json answer =
      on_h100(open_transformer("llama-3-8b"),
              {.batches = {118, 119}, .context = 4096, .format = Format::bf16});
  // (80e9 - 2 x 8.03e9) / (4096 x 131072) = 119.1
  EXPECT_DOUBLE_EQ(answer.at("largest_batch"), 119);
  EXPECT_EQ(answer.at("phases").at(2).at("fits"), true);
  const ordered_json more = on_h100(open_transformer("llama-3-8b"),
                                    {.batches = {120}, .context = 4096, .format = Format::bf16});
  EXPECT_EQ(more.at("phases").at(1).at("fits"), false);
  const ordered_json large =
      on_h100(open_transformer("gpt-3"), {.batches = {1}, .context = 2048, .format = Format::bf16});
  EXPECT_DOUBLE_EQ(large.at("largest_batch"), 0);
  EXPECT_EQ(large.at("phases").at(0).at("fits"), false);
}

TEST(PredictTransformer, Fp8HalvesTheWeightsAndLeavesTheCacheInBf16) {
  const ordered_json answer =
      on_h100(tiny_model(), {.batches = {1}, .context = 10, .format = Format::fp8_e4m3});
  EXPECT_DOUBLE_EQ(answer.at("weights_bytes"), answer.at("parameters"));
  EXPECT_DOUBLE_EQ(answer.at("kv_cache_bytes_per_token"), 32);
}

TEST(PredictTransformer, AchievedStandsBesideAllowedWhereItWasMeasured) {
  const Transformer model = tiny_model();
  const TransformerQuestion question{.batches = {4}, .context = 10, .format = Format::bf16};
  const ordered_json one =
      on_h100(model, question, [](std::string_view operation, const Shape& shape) {
        const bool measured = operation == "matmul" && shape.text() == "m:4/n:8/k:8/layout:nt";
        return measured ? std::optional(1e-3) : std::nullopt;
      });
  const ordered_json& decode = one.at("phases").at(1);
  EXPECT_DOUBLE_EQ(row_named(decode, "o").at("achieved_s"), 1e-3);
  EXPECT_TRUE(row_named(decode, "qkv").at("achieved_s").is_null());
  EXPECT_TRUE(decode.at("layer_linear_achieved_s").is_null()) << "only one of four is measured";
  const ordered_json all =
      on_h100(model, question, [](std::string_view, const Shape&) { return std::optional(1e-3); });
  EXPECT_DOUBLE_EQ(all.at("phases").at(1).at("layer_linear_achieved_s"), 4e-3);
}

TEST(PredictTransformer, AttentionAchievesWhatTheDecodingKernelDid) {
  const auto answer_of = [](const Transformer& model, TransformerQuestion question) {
    return on_h100(model, question, [](std::string_view operation, const Shape& shape) {
      const bool measured =
          operation == "attention_decode" && shape.text() == "b:4/h:4/kv:2/s:10/d:2";
      return measured ? std::optional(1e-3) : std::nullopt;
    });
  };
  const TransformerQuestion question{.batches = {4}, .context = 10, .format = Format::bf16};
  const ordered_json answer = answer_of(tiny_model(), question);
  EXPECT_DOUBLE_EQ(answer.at("phases").at(1).at("attention_achieved_s"), 1e-3);
  EXPECT_TRUE(answer.at("phases").at(0).at("attention_achieved_s").is_null()) << "of prefill";

  const auto is_unknown = [&](const Transformer& model, const TransformerQuestion& asked) {
    return answer_of(model, asked).at("phases").at(1).at("attention_achieved_s").is_null();
  };
  TransformerQuestion other = question;
  other.context = 11;
  EXPECT_TRUE(is_unknown(tiny_model(), other)) << "another context";
  other = question;
  other.cache = parse_stored_format("--cache", "int8");
  EXPECT_TRUE(is_unknown(tiny_model(), other)) << "a stored cache";
  Transformer model = tiny_model();
  model.attentions[0].value_dim = 4;
  EXPECT_TRUE(is_unknown(model, question)) << "values of another size";
  model = tiny_model();
  model.attentions[0].window = 10;
  EXPECT_FALSE(is_unknown(model, other = question)) << "a window of the context";
}

TEST(PredictTransformer, RefusesWhatIsTooLarge) {
  const TransformerQuestion question{.batches = {std::int64_t{1} << 30U},
                                     .context = std::int64_t{1} << 30U,
                                     .format = Format::bf16,
                                     .training = true};
  EXPECT_THAT([&] { (void)on_h100(tiny_model(), question); },
              ThrowsMessage<UsageError>(HasSubstr("batch x context is 1.15292e+18 tokens")));
}

TEST(PredictTransformer, LinesOfShapesHaveNoDuplicates) {
  const std::vector<std::string> lines =
      product_lines(product_operation(), tiny_model(), {1, 16}, false);
  EXPECT_THAT(lines, ::testing::Contains("matmul m:16/n:40/k:8/layout:nt"));
  EXPECT_THAT(lines, SizeIs(10));
  Transformer square = tiny_model();
  square.attentions.front().kv_heads = 4;
  square.networks = {{.prefix = "", .layers = 2, .width = 8, .gated = false}};
  square.vocabulary = 24;  // qkv and lm_head are equal; o, up and down are equal
  EXPECT_THAT(product_lines(product_operation(), square, {4}, false),
              ElementsAre("matmul m:4/n:24/k:8/layout:nt", "matmul m:4/n:8/k:8/layout:nt"));
}

}  // namespace
}  // namespace ridgebench
