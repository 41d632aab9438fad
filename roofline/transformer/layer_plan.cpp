#include "roofline/transformer/layer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace ridgebench {
namespace {

// A name of a layer in `layer_types`, or a letter of `hybrid_override_pattern` (NVIDIA Nemotron-H).
// Layers of Nemotron-H are one half: either mix tokens or are a network.
struct LayerName {
  std::string_view name;
  Mixer mixer;
};
constexpr std::array kMixerNames{LayerName{"full_attention", Mixer::full},
                                 LayerName{"attention", Mixer::full},
                                 LayerName{"global", Mixer::full},
                                 LayerName{"indexed_attention", Mixer::full},
                                 LayerName{"sliding_attention", Mixer::local},
                                 LayerName{"chunked_attention", Mixer::local},
                                 LayerName{"local", Mixer::local},
                                 LayerName{"deepseek_sparse_attention", Mixer::full},
                                 LayerName{"linear_attention", Mixer::linear},
                                 LayerName{"mamba", Mixer::linear}};

struct HalfLayer {
  std::string_view name;
  char letter;
  Mixer mixer;
  NetworkKind network;
};
constexpr std::array kHalfLayers{
    HalfLayer{"mamba", 'M', Mixer::linear, NetworkKind::none},
    HalfLayer{"linear_attention", 'M', Mixer::linear, NetworkKind::none},
    HalfLayer{"attention", '*', Mixer::full, NetworkKind::none},
    HalfLayer{"full_attention", '*', Mixer::full, NetworkKind::none},
    HalfLayer{"mlp", '-', Mixer::none, NetworkKind::dense},
    HalfLayer{"moe", 'E', Mixer::none, NetworkKind::sparse}};

constexpr const char* kAllowedLayers =
    "an array of full_attention, sliding_attention, chunked_attention and, in families that the "
    "table of docs/models.md lists as hybrid, linear_attention; layers of another kind are not "
    "counted";

void add_half(LayerPlan& plan, const HalfLayer& half) {
  plan.mixers.push_back(half.mixer);
  plan.networks.push_back(half.network);
}

// The layers of a family with half layers; empty if it has no list of them.
LayerPlan half_layers(ConfigKeys& keys) {
  LayerPlan plan;
  for (const std::string& name : keys.texts("layer_types")) {
    const auto found = std::ranges::find(kHalfLayers, name, &HalfLayer::name);
    if (found == kHalfLayers.end())
      keys.reject("layer_types", "an array of mamba, attention, mlp and moe");
    add_half(plan, *found);
  }
  if (!plan.mixers.empty()) return plan;
  for (const char letter : keys.text_or("hybrid_override_pattern", "")) {
    const auto found = std::ranges::find(kHalfLayers, letter, &HalfLayer::letter);
    if (found == kHalfLayers.end())
      keys.reject("hybrid_override_pattern", "a text of the letters M, *, - and E");
    add_half(plan, *found);
  }
  if (plan.mixers.empty()) keys.reject("layer_types", "the kinds of the layers");
  return plan;
}

// By a list of numbers: 1 is `one`, and 0 is `zero`. Empty without the list.
std::vector<Mixer> numbered(ConfigKeys& keys, const char* name, std::int64_t layers, Mixer one,
                            Mixer zero) {
  std::vector<Mixer> mixers;
  for (const double number : keys.numbers(name, {0, 1})) mixers.push_back(number == 0 ? zero : one);
  if (!mixers.empty()) check_layer_count(keys, name, mixers.size(), layers);
  return mixers;
}

std::vector<Mixer> named_mixers(ConfigKeys& keys, std::int64_t layers) {
  std::vector<Mixer> mixers;
  for (const std::string& name : keys.texts("layer_types")) {
    const auto found = std::ranges::find(kMixerNames, name, &LayerName::name);
    const bool counted = found != kMixerNames.end() &&
                         (found->mixer != Mixer::linear || keys.trait("linear").is_string());
    if (!counted) keys.reject("layer_types", kAllowedLayers);
    mixers.push_back(found->mixer);
  }
  check_layer_count(keys, "layer_types", mixers.size(), layers);
  return mixers;
}

// Every `period`-th layer is `last`, and the others are `other`.
std::vector<Mixer> periodic(std::int64_t layers, std::int64_t period, Mixer last, Mixer other) {
  std::vector<Mixer> mixers;
  for (std::int64_t i = 1; i <= layers; ++i) mixers.push_back(i % period == 0 ? last : other);
  return mixers;
}

// "LLLG": local and global layers, again and again.
std::vector<Mixer> lettered(ConfigKeys& keys, std::int64_t layers) {
  const std::string pattern = keys.text_or("sliding_window_pattern", "");
  if (pattern.find_first_not_of("LG") != std::string::npos) {
    keys.reject("sliding_window_pattern", "a number, or a text of the letters L and G");
  }
  std::vector<Mixer> mixers;
  for (std::int64_t i = 0; i < layers; ++i) {
    const char letter = pattern[static_cast<std::size_t>(i) % pattern.size()];
    mixers.push_back(letter == 'L' ? Mixer::local : Mixer::full);
  }
  return mixers;
}

std::vector<Mixer> windowed(ConfigKeys& keys, std::int64_t layers) {
  if (keys.is_text("sliding_window_pattern")) return lettered(keys, layers);
  const std::int64_t period = keys.count_or("sliding_window_pattern", or_zero(kLayerRange), 0);
  if (period > 0) return periodic(layers, period, Mixer::full, Mixer::local);
  if (!keys.has_trait("all_windowed")) {
    keys.reject("layer_types", "the kinds of the layers: some may have the window and some not");
  }
  const std::int64_t first = keys.count_or("max_window_layers", or_zero(kLayerRange), 0);
  std::vector<Mixer> mixers;
  for (std::int64_t i = 0; i < layers; ++i) {
    mixers.push_back(i < first ? Mixer::full : Mixer::local);
  }
  return mixers;
}

// The listed layers have attention, and the others recurrences.
std::vector<Mixer> attentions_listed(ConfigKeys& keys, std::int64_t layers) {
  const std::vector<double> full = keys.sorted_numbers("attn_layer_indices", or_zero(kLayerRange));
  const std::int64_t first = keys.trait("numbered_from").is_number() ? 1 : 0;
  std::vector<Mixer> mixers;
  for (std::int64_t i = 0; i < layers; ++i) {
    mixers.push_back(std::ranges::binary_search(full, static_cast<double>(i + first))
                         ? Mixer::full
                         : Mixer::linear);
  }
  return mixers;
}

std::vector<Mixer> read_mixers(ConfigKeys& keys, std::int64_t layers) {
  const bool windows = read_window(keys) > 0;
  const std::int64_t every = keys.count_or("full_attention_interval", or_zero(kLayerRange), 0);
  const bool hybrid = keys.trait("linear").is_string();
  const auto all = static_cast<std::size_t>(layers);
  if (keys.has_trait("compressed")) return std::vector<Mixer>(all, Mixer::full);
  if (keys.holds("layer_types")) return named_mixers(keys, layers);
  auto listed = numbered(keys, "hybrid_layer_pattern", layers, Mixer::local, Mixer::full);
  if (!listed.empty()) return listed;
  auto typed = numbered(keys, "attn_type_list", layers, Mixer::full, Mixer::linear);
  const bool linear = std::ranges::find(typed, Mixer::linear) != typed.end();
  if (linear && !hybrid)
    keys.reject("attn_type_list", "ones: linear attention is not counted here");
  if (!typed.empty()) return typed;
  if (keys.trait("linear") == "mamba2" || (hybrid && keys.holds("attn_layer_indices")))
    return attentions_listed(keys, layers);
  if (hybrid && every > 0) return periodic(layers, every, Mixer::full, Mixer::linear);
  if (hybrid) keys.reject("layer_types", "the kinds of the layers");
  auto rotated = numbered(keys, "no_rope_layers", layers, Mixer::local, Mixer::full);
  if (windows && !rotated.empty()) return rotated;
  if (windows) return windowed(keys, layers);
  return std::vector<Mixer>(all, Mixer::full);
}

}  // namespace

std::int64_t LayerPlan::count(Mixer mixer) const { return std::ranges::count(mixers, mixer); }
std::int64_t LayerPlan::count(NetworkKind kind) const { return std::ranges::count(networks, kind); }

void check_layer_count(ConfigKeys& keys, std::string_view name, std::size_t found,
                       std::int64_t layers) {
  if (static_cast<std::int64_t>(found) != layers) {
    keys.reject(name, fmt::format("as many entries as layers, {}", layers));
  }
}

LayerPlan read_layer_plan(ConfigKeys& keys) {
  if (keys.has_trait("half_layers")) {
    const LayerPlan plan = half_layers(keys);
    const std::int64_t layers = keys.count_or("num_hidden_layers", kLayerRange, plan.layers());
    check_layer_count(keys, "layer_types", plan.mixers.size(), layers);
    return plan;
  }
  const std::int64_t layers = keys.count("num_hidden_layers", kLayerRange);
  return {read_mixers(keys, layers), read_network_kinds(keys, layers)};
}

std::int64_t read_window(ConfigKeys& keys) {
  const bool used = keys.flag_or("use_sliding_window", true);
  // -1 is a usual way to say that there is none.
  const std::int64_t window = keys.count_or("sliding_window", {-1, kVocabularyRange.high}, 0);
  const std::int64_t chunk = keys.count_or("attention_chunk_size", or_zero(kVocabularyRange), 0);
  if (!used || window < 0) return 0;
  return window > 0 ? window : chunk;
}

}  // namespace ridgebench
