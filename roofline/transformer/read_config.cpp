// Reads config.json as Hugging Face's transformers writes it. Families name the same numbers
// differently, so each number has a list of keys. Sources of keys and of defaults: the classes
// LlamaConfig, Qwen2Config, Qwen3MoeConfig, MixtralConfig, GPT2Config, GPTNeoXConfig and OPTConfig
// in huggingface/transformers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kernels/common/error.hpp"
#include "roofline/json_object.hpp"
#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

// The largest numbers that a config may hold. They are far above those of any model, and keep every
// product of three of them within 64 bits.
constexpr Range kLayers{1, 100000};
constexpr Range kHeads{1, 65536};
constexpr Range kSize{1, 1 << 20};
constexpr Range kVocabulary{1, 1 << 30};

// The keys of one number in the order of preference.
using Keys = std::vector<const char*>;
const Keys kWidthKeys{"hidden_size", "n_embd"};
const Keys kLayerKeys{"num_hidden_layers", "n_layer"};
const Keys kHeadKeys{"num_attention_heads", "n_head"};
const Keys kVocabularyKeys{"vocab_size"};
const Keys kFeedForwardKeys{"intermediate_size", "n_inner", "ffn_dim"};
const Keys kExpertKeys{"num_local_experts", "num_experts", "n_routed_experts"};
const Keys kActiveKeys{"num_experts_per_tok", "experts_per_token"};
const Keys kActivationKeys{"hidden_act", "hidden_activation", "activation_function"};

// Keys of layers that are neither attention with its own keys and values nor a dense or a mixed
// feed-forward network, and of encoders in the style of BERT (type_vocab_size).
constexpr std::array kOtherLayers{"kv_lora_rank",      "linear_num_value_heads",  "mamba_d_state",
                                  "attn_layer_period", "hybrid_override_pattern", "block_types",
                                  "lru_width",         "type_vocab_size"};

const char* find(const JsonObject& config, const Keys& keys) {
  const auto found = std::ranges::find_if(keys, [&](const char* k) { return config.holds(k); });
  return found == keys.end() ? nullptr : *found;
}

std::int64_t count_or(const JsonObject& config, const Keys& keys, Range allowed,
                      std::int64_t absent) {
  const char* const key = find(config, keys);
  return key == nullptr ? absent : config.count(key, allowed);
}

bool flag_or(const JsonObject& config, const char* key, bool absent) {
  return config.holds(key) ? config.flag(key) : absent;
}

std::string text_or(const JsonObject& config, const Keys& keys) {
  const char* const key = find(config, keys);
  return key == nullptr ? std::string() : config.text(key);
}

// GPT-2's keys, which GPT-J has too.
bool has_gpt2_keys(const JsonObject& config) { return config.holds("n_embd"); }

// Throws UsageError that names all numbers that are missing, with each of their keys.
void check_keys(const JsonObject& config) {
  std::vector<Keys> needed{kWidthKeys, kLayerKeys, kHeadKeys, kVocabularyKeys};
  const bool has_width = has_gpt2_keys(config) || config.holds("moe_intermediate_size");
  if (!has_width) needed.push_back(kFeedForwardKeys);
  if (count_or(config, kExpertKeys, {0, kSize.high}, 0) > 0) needed.push_back(kActiveKeys);
  std::vector<std::string> missing;
  for (const Keys& keys : needed) {
    if (find(config, keys) == nullptr) {
      missing.push_back(fmt::format("{}", fmt::join(keys, " or ")));
    }
  }
  if (missing.empty()) return;
  throw UsageError(fmt::format("{}: keys of a decoder-only transformer are missing: {}",
                               config.origin(), fmt::join(missing, ", ")));
}

void check_layers(const JsonObject& config) {
  for (const char* const key : kOtherLayers) {
    if (config.holds(key)) {
      config.reject(key, "a model without this key: layers of this kind are not counted");
    }
  }
  if (flag_or(config, "is_encoder_decoder", false)) {
    config.reject("is_encoder_decoder", "false: only decoder-only models are counted");
  }
  if (!config.holds("layer_types")) return;
  for (const std::string& type : config.texts("layer_types")) {
    if (type != "full_attention" && type != "sliding_attention") {
      config.reject("layer_types", "an array of full_attention and sliding_attention");
    }
  }
}

// Some families always have a gate, whatever their activation, and some never. Of the others, those
// with SiLU have one, because SwiGLU multiplies by a gate.
bool is_gated(const JsonObject& config, const std::string& type) {
  constexpr std::array kGated{"llama", "mistral", "mixtral", "qwen", "gemma", "olmo"};
  constexpr std::array kPlain{"gpt_neox", "gptj", "gpt2", "opt", "falcon", "starcoder2", "mpt"};
  const std::string activation = text_or(config, kActivationKeys);
  const auto begins = [&](const char* name) { return type.starts_with(name); };
  if (std::ranges::any_of(kGated, begins)) return true;
  if (std::ranges::any_of(kPlain, begins)) return false;
  if (activation.empty()) return !has_gpt2_keys(config) && !config.holds("ffn_dim");
  return activation == "silu" || activation == "swish";
}

// The families' defaults where the file has no tie_word_embeddings.
bool is_tied(const JsonObject& config, const std::string& type) {
  const bool usual = has_gpt2_keys(config) || config.holds("ffn_dim") || type.starts_with("gemma");
  return flag_or(config, "tie_word_embeddings", usual);
}

// GPT-2 and OPT learn an embedding of positions. The others rotate queries and keys.
std::int64_t learned_positions(const JsonObject& config) {
  if (has_gpt2_keys(config) && !config.holds("rotary_dim")) {
    return count_or(config, {"n_positions"}, kVocabulary, 0);
  }
  if (!config.holds("ffn_dim")) return 0;
  return count_or(config, {"max_position_embeddings"}, kVocabulary, 0);
}

void read_attention(const JsonObject& config, Transformer& model) {
  const char* const heads = find(config, kHeadKeys);
  model.heads = config.count(heads, kHeads);
  const std::int64_t all = flag_or(config, "multi_query", false) ? 1 : model.heads;
  model.kv_heads = count_or(config, {"num_key_value_heads"}, kHeads, all);
  if (model.heads % model.kv_heads != 0) {
    config.reject("num_key_value_heads", fmt::format("a divisor of {}, {}", heads, model.heads));
  }
  if (config.holds("head_dim")) {
    model.head_dim = config.count("head_dim", kSize);
  } else if (model.width % model.heads == 0) {
    model.head_dim = model.width / model.heads;
  } else {
    config.reject(heads, fmt::format("a divisor of the width {}, or a head_dim", model.width));
  }
}

// Every `step`-th layer has experts. The first layers and those that a list names have none.
std::int64_t expert_layers(const JsonObject& config, std::int64_t layers) {
  const std::int64_t step = count_or(config, {"decoder_sparse_step"}, kLayers, 1);
  const std::int64_t dense = count_or(config, {"first_k_dense_replace"}, {0, kLayers.high}, 0);
  std::vector<double> listed;
  if (config.holds("mlp_only_layers")) {
    listed = config.numbers("mlp_only_layers", {0, kLayers.high});
  }
  std::ranges::sort(listed);  // a hostile list is long
  std::int64_t found = 0;
  for (std::int64_t layer = dense; layer < layers; ++layer) {
    const bool on_list = std::ranges::binary_search(listed, static_cast<double>(layer));
    if (!on_list && (layer + 1) % step == 0) ++found;
  }
  return found;
}

std::optional<Experts> read_experts(const JsonObject& config, std::int64_t layers) {
  const std::int64_t total = count_or(config, kExpertKeys, {0, kSize.high}, 0);
  if (total == 0) return std::nullopt;
  const std::int64_t active = count_or(config, kActiveKeys, {1, static_cast<double>(total)}, 1);
  const std::int64_t width =
      count_or(config, {"moe_intermediate_size", "intermediate_size", "n_inner"}, kSize, 0);
  if (width == 0) config.reject("moe_intermediate_size", "the width of an expert");
  const Range optional_size{0, kSize.high};
  std::int64_t shared = count_or(
      config, {"shared_expert_intermediate_size", "shared_intermediate_size"}, optional_size, 0);
  if (shared == 0) shared = width * count_or(config, {"n_shared_experts"}, {0, kHeads.high}, 0);
  return Experts{total, active, width, shared, expert_layers(config, layers)};
}

void read_feed_forward(const JsonObject& config, Transformer& model) {
  model.experts = read_experts(config, model.layers);
  if (model.experts && model.experts->layers == model.layers) return;
  const std::int64_t usual = has_gpt2_keys(config) ? 4 * model.width : 0;
  model.feed_forward = count_or(config, kFeedForwardKeys, kSize, usual);
  if (model.feed_forward == 0) config.reject("intermediate_size", "the width of the dense layers");
}

// The types that the tests read.
bool known(const std::string& type) {
  constexpr std::array<std::string_view, 10> kTypes{"llama",     "mistral", "mixtral",   "qwen2",
                                                    "qwen2_moe", "qwen3",   "qwen3_moe", "gpt2",
                                                    "opt",       "gpt_neox"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

Transformer transformer_of(const JsonObject& config) {
  check_layers(config);
  check_keys(config);
  const std::string type = text_or(config, {"model_type"});
  Transformer model;
  model.layers = config.count(find(config, kLayerKeys), kLayers);
  model.width = config.count(find(config, kWidthKeys), kSize);
  model.vocabulary = config.count("vocab_size", kVocabulary);
  model.positions = learned_positions(config);
  model.longest_context =
      count_or(config, {"n_positions", "max_position_embeddings"}, kVocabulary, 0);
  model.gated = is_gated(config, type);
  model.tied = is_tied(config, type);
  read_attention(config, model);
  read_feed_forward(config, model);
  if (!type.empty() && !known(type)) {
    model.notes.push_back(
        fmt::format("model_type {} is not tested: its keys are read as those of {}", type,
                    has_gpt2_keys(config) ? "GPT-2" : "Llama"));
  }
  const std::int64_t projected = count_or(config, {"word_embed_proj_dim"}, kSize, model.width);
  if (projected != model.width) {
    model.notes.push_back(
        fmt::format("word_embed_proj_dim is {}: embeddings and lm_head are counted with {}",
                    projected, model.width));
  }
  const bool slides = flag_or(config, "use_sliding_window", true) && config.holds("sliding_window");
  if (slides) {
    model.notes.push_back(
        fmt::format("sliding_window is {}: attention is counted over the whole context",
                    config.count("sliding_window", {1, kVocabulary.high})));
  }
  return model;
}

}  // namespace

Transformer parse_transformer(std::string_view text, const std::string& origin) {
  const json root = parse_json(text, origin);
  const JsonObject config(root, origin);
  // A model of pictures and text keeps the numbers of its language model in an object of their own.
  const bool nested = config.holds("text_config") && find(config, kWidthKeys) == nullptr;
  Transformer model = transformer_of(nested ? config.object("text_config") : config);
  model.name = origin;
  model.source = text_or(config, {"source"});
  return model;
}

}  // namespace ridgebench
