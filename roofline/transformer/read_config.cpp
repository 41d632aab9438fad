// Reads config.json as Hugging Face's transformers writes it. The table of families
// (roofline/families) says what the keys of each model_type mean. What it lacks is read as Llama,
// GPT-2 or OPT, and then every key must be one that is read or one that cannot change the counts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kernels/common/enum_names.hpp"
#include "kernels/common/error.hpp"
#include "roofline/transformer/language_config.hpp"
#include "roofline/transformer/plain_layer.hpp"
#include "roofline/transformer/read_parts.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

// The activations whose networks have one gate or none, as the family says.
constexpr std::array<std::string_view, 17> kActivations{
    "silu", "swish",     "gelu",       "gelu_new",     "gelu_fast",   "gelu_pytorch_tanh",
    "relu", "relu2",     "quick_gelu", "gelu_python",  "swigluoai",   "xielu",
    "tanh", "gelu_tanh", "swiglu",     "gelu_pytorch", "relu_squared"};

// If the table lacks a family, only these say whether it has a gate.
constexpr std::array<std::string_view, 2> kGatedActivations{"silu", "swish"};
constexpr std::array<std::string_view, 5> kPlainActivations{"gelu", "gelu_new", "gelu_fast",
                                                            "gelu_pytorch_tanh", "relu"};

// The family of a config, and how far it is known.
struct FamilyChoice {
  const Family* family;
  std::string type;  // empty: the config has none
  bool strict;       // the table lacks the type
  std::string warning = {};
};

const Family& family_named(std::string_view name) { return *find_family(name); }

// The family with the style of the keys.
const Family& family_by_keys(const JsonObject& config) {
  if (config.holds("n_embd")) return family_named("gpt2");
  return family_named(config.holds("ffn_dim") ? "opt" : "llama");
}

FamilyChoice choose_family(const JsonObject& config, std::string type) {
  if (const Family* const found = find_family(type)) return {found, type, false};
  const Family& style = family_by_keys(config);
  FamilyChoice choice{&style, std::move(type), true};
  const auto style_name = style.data.value("title", style.name);
  if (choice.type.empty()) {
    choice.warning =
        fmt::format("the config has no model_type: its keys are read as those of {}", style_name);
    return choice;
  }
  const std::string_view nearest = nearest_family(choice.type);
  choice.warning =
      fmt::format("model_type {} is unknown{}: its keys are read as those of {}", choice.type,
                  nearest.empty() ? "" : fmt::format(", nearest: {}", nearest), style_name);
  return choice;
}

[[noreturn]] void refuse_key(const ConfigKeys& keys, const std::string& key, std::string_view why) {
  keys.file().reject(key, why);
}

// Keys of layers that are not counted. A family that counts them reads them.
void refuse_other_layers(const ConfigKeys& keys) {
  const json& refused = common_keys().at("refused");
  for (const std::string& key : keys.unread()) {
    if (!refused.contains(key)) continue;
    refuse_key(keys, key,
               fmt::format("a model without this key: {} is not counted",
                           refused[key].get_ref<const std::string&>()));
  }
}

void check_family(ConfigKeys& keys, const FamilyChoice& choice) {
  const json& refused = choice.family->data.value("refused", json());
  if (keys.flag_or("is_encoder_decoder", false)) {
    keys.reject("is_encoder_decoder", "false: only decoder-only models are counted");
  }
  if (keys.flag_or("add_cross_attention", false)) {
    keys.reject("add_cross_attention", "false: cross-attention is not counted");
  }
  if (choice.strict) refuse_other_layers(keys);
  if (!refused.is_string()) return;
  const auto key = choice.family->data.value("refused_key", std::string("model_type"));
  const std::string why =
      fmt::format("another model: {} is not counted", refused.get<std::string>());
  if (keys.file().holds(key.c_str())) refuse_key(keys, key, why);
  throw UsageError(
      fmt::format("{}: model_type is {}; allowed: {}", keys.origin(), choice.type, why));
}

// Throws UsageError that names all numbers that are missing, with each of their keys.
void check_keys(ConfigKeys& keys) {
  std::vector<const char*> needed{"hidden_size"};
  if (!keys.has_trait("half_layers")) needed.push_back("num_hidden_layers");
  needed.insert(needed.end(), {"num_attention_heads", "vocab_size"});
  const bool half = keys.has_trait("half_layers");  // which may have no networks
  const bool has_width =
      half || keys.trait("widths").is_number() || keys.holds("moe_intermediate_size");
  if (!has_width) needed.push_back("intermediate_size");
  if (!half && read_expert_count(keys) > 0) needed.push_back("num_experts_per_tok");
  std::vector<std::string> missing;
  for (const char* const name : needed) {
    if (!keys.holds(name)) missing.push_back(keys.keys_of(name));
  }
  if (missing.empty()) return;
  throw UsageError(fmt::format("{}: keys of a decoder-only transformer are missing: {}",
                               keys.origin(), fmt::join(missing, ", ")));
}

template <std::size_t N>
bool is_one_of(const std::string& text, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, text) != list.end();
}

// True if networks have a gate. SwiGLU multiplies by one.
bool read_gate(ConfigKeys& keys, bool strict, Transformer& model) {
  const bool gated = keys.has_trait("gated");
  const std::string activation = keys.text_or("hidden_act", "");
  if (activation.empty()) return gated;
  if (strict && !(gated ? is_one_of(activation, kGatedActivations)
                        : is_one_of(activation, kPlainActivations))) {
    const std::string names = gated ? join_names(kGatedActivations) : join_names(kPlainActivations);
    keys.reject("hidden_act", fmt::format("{}; with another activation, the networks of an unknown "
                                          "model_type may have a gate or not",
                                          names));
  }
  if (!is_one_of(activation, kActivations)) {
    model.warnings.push_back(
        fmt::format("{} is {}, an unknown activation: networks are counted {} a gate",
                    keys.key_of("hidden_act"), activation, gated ? "with" : "without"));
  }
  return gated;
}

void warn_of_defaults(const ConfigKeys& keys, Transformer& model) {
  if (keys.defaulted().empty()) return;
  model.warnings.push_back(
      fmt::format("the config leaves out sizes, and the defaults of {} are taken: {}",
                  keys.family().name, fmt::join(keys.defaulted(), ", ")));
}

void warn_of_differences(const ConfigKeys& keys, Transformer& model) {
  for (const std::string& pair : keys.different()) {
    model.warnings.push_back(fmt::format("{}: the first is counted", pair));
  }
}

// True for a class of transformers that computes labels, a score or vectors instead of a next
// token.
bool lacks_lm_head(std::string_view name) {
  constexpr std::array<std::string_view, 3> kOtherHeads{"Classification", "QuestionAnswering",
                                                        "RewardModel"};
  if (std::ranges::any_of(kOtherHeads, [&](auto head) { return name.ends_with(head); }))
    return true;
  return name.ends_with("Model") && !name.ends_with("LMHeadModel") && name != "ChatGLMModel";
}

void warn_of_head(const json& config, Transformer& model) {
  const json classes = config.value("architectures", json());
  if (!classes.is_array() || classes.empty() || !classes[0].is_string()) return;
  const auto& name = classes[0].get_ref<const std::string&>();
  if (!lacks_lm_head(name)) return;
  model.warnings.push_back(
      fmt::format("architectures is {}, a class without lm_head: lm_head is counted", name));
}

// Keys that nothing has read: an error for a family that the table lacks, else a warning.
void check_unread(const ConfigKeys& keys, const FamilyChoice& choice, Transformer& model) {
  refuse_other_layers(keys);
  const std::vector<std::string> unread = keys.unread();
  if (unread.empty()) return;
  if (!choice.strict) {
    model.warnings.push_back(fmt::format("{} {} not read, and may change the counts",
                                         fmt::join(unread, ", "),
                                         unread.size() == 1 ? "is" : "are"));
    return;
  }
  const std::string_view nearest = nearest_family(choice.type);
  refuse_key(keys, unread.front(),
             fmt::format("keys that are read and keys that cannot change the counts, because {}; "
                         "nearest supported key: {}{}",
                         choice.type.empty() ? "there is no model_type"
                                             : fmt::format("model_type {} is unknown", choice.type),
                         keys.nearest_key(unread.front()),
                         nearest.empty() ? "" : fmt::format("; nearest model_type: {}", nearest)));
}

// Layers that predict further tokens, for speculative decoding.
void note_further_predictions(ConfigKeys& keys, Transformer& model) {
  const auto further = keys.count_or("num_nextn_predict_layers", or_zero(kLayerRange), 0);
  if (further == 0) return;
  model.notes.push_back(
      fmt::format("layers that predict further tokens are not counted: {}", further));
}

// The modules of each layer that hold weights.
std::vector<std::vector<WeightKind>> kinds_by_layer(const LayerPlan& plan, const Transformer& model,
                                                    bool dense_beside_experts) {
  const bool shared =
      std::ranges::any_of(model.networks, [](const Network& n) { return n.prefix == "shared_"; });
  std::vector<std::vector<WeightKind>> layers(plan.mixers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Mixer mixer = plan.mixers[i];
    const NetworkKind network = plan.networks[i];
    const bool sparse = network == NetworkKind::sparse;
    if (mixer == Mixer::linear) layers[i].push_back(WeightKind::recurrence);
    if (mixer == Mixer::full || mixer == Mixer::local) layers[i].push_back(WeightKind::attention);
    if (network == NetworkKind::dense || (sparse && dense_beside_experts))
      layers[i].push_back(WeightKind::dense);
    if (sparse) layers[i].push_back(WeightKind::expert);
    if (sparse && shared) layers[i].push_back(WeightKind::shared);
  }
  return layers;
}

Transformer transformer_of(ConfigKeys& keys, const FamilyChoice& choice) {
  check_family(keys, choice);
  check_keys(keys);
  Transformer model{};
  if (!choice.warning.empty()) model.warnings.push_back(choice.warning);
  const LayerPlan plan = read_layer_plan(keys);
  model.layers = plan.layers();
  model.width = keys.count("hidden_size", kSizeRange);
  model.vocabulary = keys.count("vocab_size", kVocabularyRange);
  model.longest_context = keys.count_or("max_position_embeddings", kVocabularyRange, 0);
  model.tied = keys.flag_or("tie_word_embeddings", false);
  const bool gated = read_gate(keys, choice.strict, model);
  read_attentions(keys, plan, model);
  read_recurrences(keys, plan, model);
  read_networks(keys, plan, gated, model);
  model.layer_kinds = kinds_by_layer(plan, model, keys.has_trait("dense_beside_experts"));
  read_embeddings(keys, model);
  for (const json& note : keys.family().data.value("notes", json::array()))
    model.notes.push_back(note);
  note_further_predictions(keys, model);
  warn_of_defaults(keys, model);
  warn_of_differences(keys, model);
  check_unread(keys, choice, model);
  model.type = choice.type;
  model.not_plain = why_not_plain(keys, choice.type, model);
  return model;
}

}  // namespace

Transformer parse_transformer(std::string_view text, const std::string& origin) {
  const json root = parse_config(text, origin);
  const Language language = language_of(root, origin);
  const JsonObject object(language.config, language.origin);
  const FamilyChoice choice = choose_family(object, language.type);
  ConfigKeys keys(language.config, language.origin, *choice.family, !choice.strict);
  Transformer model = transformer_of(keys, choice);
  if (!language.warning.empty()) model.warnings.push_back(language.warning);
  warn_of_head(language.config, model);
  const bool inside = object.holds("quantization_config");
  read_quantization(inside ? language.config : root, model);
  model.name = origin;
  const JsonObject whole(root, origin);
  if (whole.holds("source")) model.source = whole.text("source");
  return model;
}

}  // namespace ridgebench
