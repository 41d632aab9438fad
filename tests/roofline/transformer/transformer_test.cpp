#include "roofline/transformer/transformer.hpp"

#include <gmock/gmock.h>

#include <map>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "tests/harness/results/written_results.hpp"

namespace ridgebench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::SizeIs;

Transformer stored_config(const std::string& file) {
  return open_transformer(RIDGEBENCH_SOURCE_DIR "/tests/data/model_configs/" + file);
}

// The stored Llama config with one key changed; a null value removes the key.
std::string changed_llama(const std::string& key, const nlohmann::json& value) {
  const std::string path = RIDGEBENCH_SOURCE_DIR "/tests/data/model_configs/llama.json";
  nlohmann::json config = nlohmann::json::parse(read_file(path));
  config[key] = value;
  if (value.is_null()) config.erase(key);
  return config.dump();
}

std::string config_rejection(const std::string& text) {
  return message_of<UsageError>([&] { (void)parse_transformer(text, "config.json"); });
}

std::vector<std::string> products_of_layers(const Transformer& model) {
  std::vector<std::string> texts;
  for (const Linear& l : linear_layers(model)) {
    texts.push_back(std::string(l.name) + " " + std::to_string(l.outputs) + "x" +
                    std::to_string(l.inputs) + " in " + std::to_string(l.layers));
  }
  return texts;
}

TEST(Transformer, LlamaHasGroupedQueriesAndAGate) {
  const Transformer model = stored_config("llama.json");
  // 4 heads of 2, and twice 2 heads of keys and values; 20 outputs of up and 20 of gate.
  EXPECT_THAT(products_of_layers(model),
              ElementsAre("qkv 16x8 in 3", "o 8x8 in 3", "gate_up 40x8 in 3", "down 8x20 in 3",
                          "lm_head 100x8 in 1"));
  EXPECT_DOUBLE_EQ(parameters(model), 3 * (128 + 64 + 320 + 160) + 2 * 800);
  EXPECT_DOUBLE_EQ(active_parameters(model), parameters(model));
  EXPECT_DOUBLE_EQ(cached_elements(model), 2 * 3 * 2 * 2);
  EXPECT_THAT(model.notes, IsEmpty());
}

TEST(Transformer, AClassWithoutLmHeadIsAWarning) {
  const auto warnings_of = [](const nlohmann::json& classes) {
    return parse_transformer(changed_llama("architectures", classes), "x").warnings;
  };
  for (const char* const name : {"LlamaForSequenceClassification", "Qwen2ForTokenClassification",
                                 "LlamaForQuestionAnswering", "Qwen2ForProcessRewardModel",
                                 "MistralModel", "LlamaBidirectionalModel"}) {
    EXPECT_THAT(warnings_of({name}), ElementsAre(AllOf(HasSubstr(name), HasSubstr("lm_head"))));
  }
  for (const nlohmann::json& classes : std::vector<nlohmann::json>{
           {"LlamaForCausalLM"}, {"GPT2LMHeadModel"}, {"ChatGLMModel"}, {1}, nullptr, "x"}) {
    EXPECT_THAT(warnings_of(classes), IsEmpty()) << classes;
  }
}

TEST(Transformer, Gpt2IsFourTimesAsWideInsideHasNoGateAndTiesItsEmbedding) {
  const Transformer model = stored_config("gpt2.json");
  EXPECT_THAT(products_of_layers(model), ElementsAre("qkv 24x8 in 2", "o 8x8 in 2", "up 32x8 in 2",
                                                     "down 8x32 in 2", "lm_head 50x8 in 1"));
  EXPECT_DOUBLE_EQ(parameters(model), 2 * (192 + 64 + 256 + 256) + 50 * 8 + 16 * 8);
}

TEST(Transformer, GptNeoXAndOptHaveNoGate) {
  EXPECT_DOUBLE_EQ(parameters(stored_config("gpt_neox.json")), 2 * 768 + 2 * 400);
  EXPECT_DOUBLE_EQ(parameters(stored_config("opt.json")), 2 * 768 + 400 + 18 * 8);
}

TEST(Transformer, MixtralCountsAllExpertsAndTheActiveOnes) {
  const Transformer model = stored_config("mixtral.json");
  EXPECT_THAT(products_of_layers(model),
              ElementsAre("qkv 16x8 in 3", "o 8x8 in 3", "expert_gate_up 40x8 in 3",
                          "expert_down 8x20 in 3", "lm_head 100x8 in 1"));
  EXPECT_DOUBLE_EQ(parameters(model), 3 * (192 + 8 * 480 + 64) + 1600) << "with routers";
  EXPECT_DOUBLE_EQ(active_parameters(model), 3 * (192 + 2 * 480 + 64) + 1600);
}

TEST(Transformer, QwenHasDenseLayersAmongExpertsAndAnExplicitHeadDim) {
  const Transformer model = stored_config("qwen3_moe.json");
  // Every second of four layers has experts.
  EXPECT_THAT(
      products_of_layers(model),
      ElementsAre("qkv 32x8 in 4", "o 8x16 in 4", "gate_up 24x8 in 2", "down 8x12 in 2",
                  "expert_gate_up 12x8 in 2", "expert_down 8x6 in 2", "lm_head 100x8 in 1"));
  EXPECT_DOUBLE_EQ(parameters(model), 4 * 384 + 2 * 288 + 2 * 16 * 152 + 800);
  EXPECT_DOUBLE_EQ(active_parameters(model), 4 * 384 + 2 * 288 + 2 * (4 * 144 + 128) + 800);
  EXPECT_EQ(model.attentions.front().window, 0) << "use_sliding_window is false";
  EXPECT_THAT(model.warnings, IsEmpty());
}

TEST(Transformer, SharedExpertsServeEveryToken) {
  const Transformer qwen = stored_config("qwen2_moe.json");
  EXPECT_DOUBLE_EQ(active_parameters(qwen), 2 * (256 + 4 * 144 + 240 + 128) + 1600);
  // Two shared experts of 6, and a first dense layer.
  const Transformer glm = stored_config("glm4_moe.json");
  EXPECT_DOUBLE_EQ(active_parameters(glm), 3 * 384 + 288 + 2 * (4 * 144 + 2 * 144 + 128) + 1600);
  EXPECT_THAT(glm.warnings, IsEmpty());
}

TEST(Transformer, AListedLayerIsDense) {
  const std::string path = RIDGEBENCH_SOURCE_DIR "/tests/data/model_configs/qwen2_moe.json";
  nlohmann::json config = nlohmann::json::parse(read_file(path));
  config["mlp_only_layers"] = {1};
  const Transformer model = parse_transformer(config.dump(), "x");
  EXPECT_DOUBLE_EQ(active_parameters(model), 2 * 256 + (4 * 144 + 240 + 128) + 288 + 1600);
}

TEST(Transformer, ReadsTheLanguageModelOfPicturesAndText) {
  const Transformer model = stored_config("gemma3.json");
  EXPECT_DOUBLE_EQ(parameters(model), 2 * (256 + 128 + 480) + 800) << "gated and tied";
  EXPECT_THAT(model.warnings, ElementsAre("only the language model, text_config, is counted"));
  ASSERT_THAT(model.attentions, SizeIs(2));
  EXPECT_EQ(model.attentions.front().window, 512);
  EXPECT_EQ(model.attentions.back().window, 0);
}

TEST(Transformer, BuiltInModelsHaveTheParametersThatTheirAuthorsState) {
  struct Stated {
    const char* name;
    double parameters;
    double active;
  };
  for (const auto& [name, all, active] :
       {Stated{"gpt-2", 124.4e6, 124.4e6}, Stated{"gpt-2-xl", 1.558e9, 1.558e9},
        Stated{"gpt-3", 175e9, 175e9}, Stated{"llama-2-7b", 6.74e9, 6.74e9},
        Stated{"llama-2-70b", 68.98e9, 68.98e9}, Stated{"llama-3-8b", 8.03e9, 8.03e9},
        Stated{"llama-3-70b", 70.6e9, 70.6e9}, Stated{"llama-3.1-405b", 406e9, 406e9},
        Stated{"llama-3.2-1b", 1.236e9, 1.236e9}, Stated{"mistral-7b", 7.24e9, 7.24e9},
        Stated{"mixtral-8x7b", 46.7e9, 12.9e9}, Stated{"qwen2.5-7b", 7.61e9, 7.61e9},
        Stated{"qwen3-8b", 8.2e9, 8.2e9}, Stated{"qwen3-32b", 32.8e9, 32.8e9},
        Stated{"qwen3-30b-a3b", 30.5e9, 3.3e9}}) {
    const Transformer model = open_transformer(name);
    EXPECT_NEAR(parameters(model) / all, 1, 0.01) << name;
    EXPECT_NEAR(active_parameters(model) / active, 1, 0.02) << name;
    EXPECT_FALSE(model.source.empty()) << name;
    EXPECT_THAT(transformer_names(), HasSubstr(name));
  }
}

TEST(Transformer, NamesAreFoundInAnyCaseAndTheNearestIsOffered) {
  EXPECT_EQ(open_transformer("Llama-3-8B").name, "llama-3-8b");
  EXPECT_THAT(message_of<UsageError>([] { (void)open_transformer("lama-3-8b"); }),
              AllOf(HasSubstr("no model 'lama-3-8b'; nearest: llama-3-8b"),
                    HasSubstr("the path of a config.json, or gpt-2, ")));
}

TEST(Transformer, NamesAllKeysThatAreMissing) {
  EXPECT_EQ(config_rejection("{}"),
            "config.json: keys of a decoder-only transformer are missing: hidden_size or n_embd, "
            "num_hidden_layers or n_layer, num_attention_heads or n_head, vocab_size, "
            "intermediate_size or n_inner or ffn_dim");
  nlohmann::json untyped = nlohmann::json::parse(changed_llama("num_experts", 8));
  untyped.erase("model_type");
  EXPECT_THAT(config_rejection(untyped.dump()),
              HasSubstr("missing: num_experts_per_tok or experts_per_token"));
}

TEST(Transformer, AFamilyWithoutAMixtureIgnoresTheKeysOfExpertsWithAWarning) {
  const auto model = [](const std::string& text) { return parse_transformer(text, "config.json"); };
  const Transformer llama = model(changed_llama("hidden_act", "silu"));
  const Transformer named = model(changed_llama("num_local_experts", 8));
  EXPECT_EQ(parameters(named), parameters(llama));
  EXPECT_THAT(named.warnings, ElementsAre(HasSubstr("num_local_experts is not read")));
}

TEST(Transformer, RefusesValuesThatNoModelHas) {
  const auto rejection = [](const char* key, const nlohmann::json& value) {
    return config_rejection(changed_llama(key, value));
  };
  EXPECT_EQ(rejection("num_hidden_layers", -1),
            "config.json: num_hidden_layers is -1; allowed: a whole number from 1 to 100000");
  EXPECT_THAT(rejection("hidden_size", 1e300), HasSubstr("from 1 to 1048576"));
  EXPECT_THAT(rejection("hidden_size", 8.5), HasSubstr("hidden_size is 8.5"));
  EXPECT_THAT(rejection("vocab_size", "100"), HasSubstr("vocab_size is \"100\""));
  EXPECT_THAT(rejection("intermediate_size", {20, 20}), HasSubstr("is an array"));
  EXPECT_THAT(rejection("num_key_value_heads", 3),
              HasSubstr("a divisor of num_attention_heads, 4"));
  EXPECT_THAT(rejection("num_attention_heads", 6), HasSubstr("a divisor of the width 8"));
  EXPECT_THAT(rejection("hidden_act", 1), HasSubstr("hidden_act is 1"));
  EXPECT_THAT(rejection("kv_lora_rank", 512), HasSubstr("kv_lora_rank is 512; allowed: a model "));
  EXPECT_THAT(rejection("is_encoder_decoder", true), HasSubstr("only decoder-only"));
  EXPECT_THAT(rejection("layer_types", {"linear_attention"}), HasSubstr("full_attention"));
}

TEST(Transformer, RefusesTheNumbersThatJsonLacks) {
  const auto with = [&](const char* key) {  // JSON has no NaN to write
    std::string text = changed_llama(key, "NaN");
    return text.replace(text.find("\"NaN\""), 5, "NaN");
  };
  EXPECT_THAT(config_rejection(with("num_key_value_heads")),
              HasSubstr("num_key_value_heads is \"NaN\"; allowed: a whole number"));
  EXPECT_THAT(config_rejection(with("tie_word_embeddings")), HasSubstr("allowed: true or false"));
  EXPECT_EQ(config_rejection(changed_llama("sliding_window", 1024.5)),
            "config.json: sliding_window is 1024.5; allowed: a whole number from -1 to 1073741824");
}

// The cache of Qwen2, whose later layers have a window if a flag says so.
TEST(Transformer, AFlagThatIsNullIsFalse) {
  const auto qwen2 = [](const nlohmann::json& used) {
    const nlohmann::json config{{"model_type", "qwen2"},   {"hidden_size", 8},
                                {"num_hidden_layers", 4},  {"num_attention_heads", 4},
                                {"vocab_size", 100},       {"num_key_value_heads", 2},
                                {"intermediate_size", 20}, {"sliding_window", 16},
                                {"max_window_layers", 2},  {"use_sliding_window", used}};
    return cached_elements(parse_transformer(config.dump(), "config.json"), 64);
  };
  EXPECT_EQ(qwen2(nullptr), qwen2(false));
  EXPECT_LT(qwen2(true), qwen2(false));
  auto gemma = nlohmann::json::parse(
      read_file(RIDGEBENCH_SOURCE_DIR "/tests/data/model_configs/gemma4.json"));
  const auto counted = [&](const nlohmann::json& used) {
    (gemma.contains("text_config") ? gemma["text_config"] : gemma)["enable_moe_block"] = used;
    return parameters(parse_transformer(gemma.dump(), "config.json"));
  };
  EXPECT_EQ(counted(nullptr), counted(false));
  EXPECT_GT(counted(true), counted(false));
}

TEST(Transformer, FalconHasKeysForAllHeadsUnlessItSaysHowMany) {
  nlohmann::json config{{"model_type", "falcon"},
                        {"hidden_size", 8},
                        {"num_hidden_layers", 2},
                        {"num_attention_heads", 4},
                        {"vocab_size", 100}};
  const auto heads = [&](const nlohmann::json& changes) {
    nlohmann::json changed = config;
    changed.update(changes);
    return parse_transformer(changed.dump(), "config.json").attentions.front().kv_heads;
  };
  EXPECT_EQ(heads({{"num_kv_heads", 2}}), 1) << "multi_query is the default of its first version";
  EXPECT_EQ(heads({{"num_kv_heads", 2}, {"multi_query", false}}), 4);
  EXPECT_EQ(heads({{"num_kv_heads", 2}, {"multi_query", nullptr}}), 4);
  EXPECT_EQ(heads({{"num_kv_heads", 2}, {"new_decoder_architecture", true}}), 2);
  EXPECT_EQ(heads({{"num_kv_heads", nullptr}, {"new_decoder_architecture", true}}), 4);
  EXPECT_EQ(heads({{"multi_query", true}, {"new_decoder_architecture", true}}), 4);
}

TEST(Transformer, KeysThatRealFilesHaveAreNoWarning) {
  for (const auto& [key, value] :
       std::map<std::string, nlohmann::json>{{"cache_implementation", "hybrid"},
                                             {"full_attn_mod", 1},
                                             {"interpolate_factor", 1},
                                             {"normalization_function", "rmsnorm"}}) {
    EXPECT_THAT(parse_transformer(changed_llama(key, value), "x").warnings, IsEmpty()) << key;
  }
  EXPECT_THAT(parse_transformer(changed_llama("full_attn_mod", 2), "x").warnings,
              ElementsAre(HasSubstr("full_attn_mod")));
}

TEST(Transformer, OptHasPositionsAsWideAsItsLayersBesideNarrowEmbeddings) {
  auto config =
      nlohmann::json::parse(read_file(RIDGEBENCH_SOURCE_DIR "/tests/data/model_configs/opt.json"));
  config["word_embed_proj_dim"] = 4;
  const Transformer model = parse_transformer(config.dump(), "config.json");
  EXPECT_DOUBLE_EQ(parameters(model), 2 * 768 + 50 * 4 + 2 * 8 * 4 + 18 * 8);
}

TEST(Transformer, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "3", "\"gpt-2\"", "null", "{", "\x80\xff"}) {
    EXPECT_THAT(config_rejection(text), ::testing::StartsWith("config.json: ")) << text;
  }
  EXPECT_THAT(config_rejection(std::string(200000, '[')), HasSubstr("nested more than 100"));
}

TEST(Transformer, RefusesAFolder) {
  EXPECT_THAT(message_of<UsageError>([] { (void)open_transformer("/"); }),
              HasSubstr("/: is not a file; allowed: the config.json of a model"));
}

}  // namespace
}  // namespace ridgebench
