// The bytes of weights that a quantization_config of single modules gives.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kLayers = 12;
constexpr double kWidth = 64;
constexpr double kNetwork = 128;  // outputs of a dense network
constexpr double kVocabulary = 100;
constexpr double kExperts = 8;
constexpr double kExpert = 32;                                       // outputs of an expert
constexpr double kAttention = kWidth * (64 + 2 * 32) + 64 * kWidth;  // 4 heads of 16, 2 of keys
constexpr double kHalf = 2;                                          // bytes
constexpr double kFp4 = 4.5 / 8;  // NVFP4: 16 values share a scale of 8 bits

json config_of_llama() {
  return {{"model_type", "llama"},
          {"hidden_size", 64},
          {"num_hidden_layers", kLayers},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"intermediate_size", 128},
          {"vocab_size", 100},
          {"tie_word_embeddings", false},
          {"hidden_act", "silu"}};
}

// The first layer is dense, and the others have 8 experts.
json mixture() {
  json config = config_of_llama();
  config.update({{"model_type", "qwen3_moe"},
                 {"head_dim", 16},
                 {"num_experts", 8},
                 {"num_experts_per_tok", 2},
                 {"moe_intermediate_size", 32},
                 {"mlp_only_layers", {0}},
                 {"decoder_sparse_step", 1},
                 {"norm_topk_prob", true}});
  return config;
}

Transformer quantised(json config, const json& quantisation) {
  config["quantization_config"] = quantisation;
  return parse_transformer(config.dump(), "config.json");
}

Transformer without(const json& config, const json& modules) {
  return quantised(config, {{"quant_method", "fp8"}, {"modules_to_not_convert", modules}});
}

double stored_bytes_of(const Transformer& model) {
  return weights_bytes(model, model.weights, Format::bf16);
}

// The bytes that a list adds to a model whose linear layers but lm_head are in FP8: one for each
// weight that stays in 16 bits.
double added(const json& config, const json& modules) {
  return stored_bytes_of(without(config, modules)) -
         stored_bytes_of(without(config, json::array()));
}

json listed(int first, int end, const std::vector<std::string>& modules) {
  json names = json::array();
  for (int layer = first; layer < end; ++layer) {
    for (const std::string& module : modules)
      names.push_back("model.layers." + std::to_string(layer) + "." + module);
  }
  return names;
}

TEST(Quantization, AProjectionThatIsLeftOutHas16BitsInItsLayers) {
  const double down = kWidth * kNetwork;
  EXPECT_DOUBLE_EQ(added(config_of_llama(), listed(0, kLayers, {"mlp.down_proj"})), kLayers * down);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), listed(2, 5, {"mlp.down_proj"})), 3 * down);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), listed(0, 1, {"mlp.gate_proj"})), down);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), listed(0, 1, {"self_attn.q_proj"})), kWidth * 64);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), listed(0, 1, {"self_attn.v_proj"})), kWidth * 32);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), listed(3, 4, {"mlp", "mlp.down_proj"})), 3 * down)
      << "once";
  const Transformer model = without(config_of_llama(), listed(0, kLayers, {"mlp.down_proj"}));
  EXPECT_DOUBLE_EQ(model.weights.bytes("down", Format::bf16), kHalf);
  EXPECT_DOUBLE_EQ(model.weights.bytes("gate_up", Format::bf16), 1);
  EXPECT_THAT(model.stored_warnings, IsEmpty());
  EXPECT_EQ(model.weights.name(), "fp8_e4m3");
}

TEST(Quantization, APatternNamesTheModulesThatItFits) {
  const double network = 3 * kWidth * kNetwork;
  for (const char* const pattern :
       {"re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "re:.*mlp.*", "*.mlp.*", "*mlp*", "mlp",
        "model.layers.*.mlp", "re:model\\.layers\\.\\d+\\.mlp", "re:.*(gate|up|down)_proj$"}) {
    EXPECT_DOUBLE_EQ(added(config_of_llama(), {pattern}), kLayers * network) << pattern;
  }
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"re:.*down_proj"}), kLayers * network / 3);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"model.layers.3*"}), network + kAttention);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"model.layers.1*"}), 3 * (network + kAttention))
      << "1, 10, 11";
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"model.layers.1.*"}), network + kAttention);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"model.layers.1"}), network + kAttention);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"re:model.layers.(0|1).self_attn.*"}), 2 * kAttention);
  EXPECT_DOUBLE_EQ(added(config_of_llama(), {"model.layers.12.mlp", "mtp.*"}), 0)
      << "no layer of the model";
}

TEST(Quantization, TheNetworkOfALayerIsDenseOrHasExperts) {
  const double expert = 3 * kWidth * kExpert;
  const double dense = 3 * kWidth * kNetwork;
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.0.mlp"}), dense);
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.5.mlp"}), kExperts * expert);
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.5.mlp.experts"}), kExperts * expert);
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.5.mlp.experts.2"}), expert);
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.5.mlp.experts.2.down_proj"}), expert / 3);
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.*.mlp"}), dense + 11 * kExperts * expert);
  EXPECT_DOUBLE_EQ(added(mixture(), {"re:.*mlp\\.(gate|up|down)_proj.*"}), dense);
  EXPECT_DOUBLE_EQ(added(mixture(), {"model.layers.5.mlp.gate"}), 0) << "a router is small";
}

TEST(Quantization, AListThatIsNotUnderstoodIsAWarning) {
  const Transformer model = without(
      config_of_llama(), {"model.layers.0.mystery", "re:.*[qk]_proj", "model.norm", "lm_head"});
  EXPECT_THAT(model.stored_warnings,
              ElementsAre("2 modules of those that quantization_config leaves out are counted as "
                          "quantised, the first is model.layers.0.mystery"));
  EXPECT_THAT(without(config_of_llama(), {"*****", "", "re:((((", std::string(2000, '*') + "a"})
                  .stored_warnings,
              ElementsAre(HasSubstr("modules of those")));
}

// ModelOpt's list: q, k, v and o in FP8, and the projections of a network in NVFP4.
json mixed_precision(int first, int end, const char* network) {
  json modules;
  for (const json& name :
       listed(first, end,
              {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"}))
    modules[name.get<std::string>()] = {{"quant_algo", "FP8"}};
  for (const json& name : listed(first, end, {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}))
    modules[name.get<std::string>()] = {{"quant_algo", network}};
  return {{"quant_method", "modelopt"},
          {"quant_algo", "MIXED_PRECISION"},
          {"quantized_layers", modules}};
}

TEST(Quantization, AMixedPrecisionCountsTheLayersThatItLists) {
  const double network = 3 * kWidth * kNetwork;
  const double rest = kHalf * 2 * kVocabulary * kWidth;
  const Transformer one = quantised(config_of_llama(), mixed_precision(0, 1, "NVFP4"));
  EXPECT_DOUBLE_EQ(stored_bytes_of(one), rest + kAttention + kFp4 * network +
                                             kHalf * (kLayers - 1) * (kAttention + network));
  EXPECT_EQ(one.weights.name(), "nvfp4, fp8_e4m3");
  EXPECT_THAT(one.stored_warnings, IsEmpty());
  json half = mixed_precision(0, kLayers / 2, "NVFP4");
  half["quantized_layers"].update(
      mixed_precision(kLayers / 2, kLayers, "FP8").at("quantized_layers"));
  EXPECT_DOUBLE_EQ(stored_bytes_of(quantised(config_of_llama(), half)),
                   rest + kLayers * (kAttention + (kFp4 + 1) / 2 * network));
}

TEST(Quantization, AModuleOfAnUnknownFormatIsIn16BitsWithAWarning) {
  json mixed = mixed_precision(0, kLayers, "NVFP4");
  mixed["quantized_layers"]["model.layers.0.mlp.down_proj"] = {{"quant_algo", "W1A1"}};
  const Transformer model = quantised(config_of_llama(), mixed);
  EXPECT_THAT(model.stored_warnings, ElementsAre(HasSubstr("is counted in 16 bits")));
  EXPECT_DOUBLE_EQ(
      stored_bytes_of(model) -
          stored_bytes_of(quantised(config_of_llama(), mixed_precision(0, kLayers, "NVFP4"))),
      (kHalf - kFp4) * kWidth * kNetwork);
}

TEST(Quantization, GroupsOf32In8BitsAreMxfp8) {
  const auto group = [](json weights) {
    return json{{"quant_method", "compressed-tensors"},
                {"config_groups",
                 {{"group_0", {{"targets", {"Linear"}}, {"weights", std::move(weights)}}}}}};
  };
  const json mx = group({{"num_bits", 8}, {"type", "float"}, {"group_size", 32}});
  EXPECT_EQ(quantised(config_of_llama(), mx).weights.name(), "mxfp8");
  const json whole = group({{"num_bits", 8}, {"type", "float"}, {"group_size", nullptr}});
  EXPECT_EQ(quantised(config_of_llama(), whole).weights.name(), "fp8_e4m3");
}

TEST(Quantization, NullIsAsAKeyThatIsLeftOut) {
  json pictures{{"model_type", "llava"},
                {"text_config", config_of_llama()},
                {"quantization_config", {{"quant_method", "fp8"}}}};
  pictures["text_config"]["quantization_config"] = nullptr;
  EXPECT_EQ(parse_transformer(pictures.dump(), "config.json").weights.name(), "fp8_e4m3");
  const json awq{{"quant_method", "awq"}, {"bits", 4}, {"group_size", 64}};
  for (const char* const key : {"zero_point", "w_bit", "q_group_size"}) {
    json with = awq;
    with[key] = nullptr;
    EXPECT_DOUBLE_EQ(stored_bytes_of(quantised(config_of_llama(), with)),
                     stored_bytes_of(quantised(config_of_llama(), awq)))
        << key;
  }
}

}  // namespace
}  // namespace ridgebench
