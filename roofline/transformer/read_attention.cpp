#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "roofline/transformer/read_parts.hpp"

namespace ridgebench {
namespace {

struct HeadKeys {
  const char* heads;
  const char* kv_heads;
  const char* head_dim;
  const char* value_dim;
};
constexpr HeadKeys kLocalHeads{"swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim",
                               "swa_v_head_dim"};
constexpr HeadKeys kGlobalHeads{"num_attention_heads", "num_global_key_value_heads",
                                "global_head_dim", "v_head_dim"};

// A model without head_dim divides its width by the heads.
std::int64_t usual_head_dim(ConfigKeys& keys, std::int64_t width, std::int64_t heads) {
  if (keys.holds("head_dim")) return keys.count("head_dim", kSizeRange);
  if (width % heads == 0) return width / heads;
  keys.reject("num_attention_heads",
              fmt::format("a divisor of the width {}, or a head_dim", width));
}

void check_groups(ConfigKeys& keys, const Attention& attention) {
  if (attention.heads % attention.kv_heads == 0) return;
  keys.reject(
      "num_key_value_heads",
      fmt::format("a divisor of {}, {}", keys.key_of("num_attention_heads"), attention.heads));
}

Attention grouped_attention(ConfigKeys& keys, std::int64_t width) {
  Attention a{};
  a.heads = keys.count("num_attention_heads", kHeadRange);
  // Falcon's first version has the number of groups and does not use it; its second one does not
  // use multi_query.
  const auto& condition = keys.trait("grouped_if");
  const bool decides = condition.is_string();
  const bool grouped = decides && keys.flag_or(condition.get<std::string>(), false);
  const bool one = keys.flag_or("multi_query", false) && !grouped;
  const std::int64_t all = one ? 1 : a.heads;
  const std::int64_t given = keys.count_or("num_key_value_heads", kHeadRange, all);
  a.kv_heads = decides && !grouped ? all : given;
  check_groups(keys, a);
  a.head_dim = usual_head_dim(keys, width, a.heads);
  a.value_dim = keys.count_or("v_head_dim", kSizeRange, a.head_dim);
  a.output_gate = keys.flag_or("attn_output_gate", keys.has_trait("output_gate"));
  return a;
}

// The sizes of `usual`, but for those that the keys give.
Attention with_heads(ConfigKeys& keys, Attention usual, const HeadKeys& names) {
  usual.heads = keys.count_or(names.heads, kHeadRange, usual.heads);
  usual.kv_heads = keys.count_or(names.kv_heads, kHeadRange, usual.kv_heads);
  const bool as_keys = usual.value_dim == usual.head_dim;
  usual.head_dim = keys.count_or(names.head_dim, kSizeRange, usual.head_dim);
  if (as_keys) usual.value_dim = usual.head_dim;
  usual.value_dim = keys.count_or(names.value_dim, kSizeRange, usual.value_dim);
  check_groups(keys, usual);
  return usual;
}

Indexer read_indexer(ConfigKeys& keys) {
  return {keys.count("index_n_heads", kHeadRange), keys.count("index_head_dim", kSizeRange),
          keys.count("index_topk", kVocabularyRange)};
}

Attention latent_attention(ConfigKeys& keys) {
  Attention a{};
  a.heads = keys.count("num_attention_heads", kHeadRange);
  a.kv_heads = a.heads;
  const std::int64_t rotated = keys.count("qk_rope_head_dim", or_zero(kSizeRange));
  a.head_dim = keys.count("qk_nope_head_dim", kSizeRange) + rotated;
  a.value_dim = keys.count("v_head_dim", kSizeRange);
  const std::int64_t query_rank = keys.count_or("q_lora_rank", or_zero(kSizeRange), 0);
  a.latent = Latent{keys.count("kv_lora_rank", kSizeRange), rotated, query_rank};
  if (keys.holds("index_n_heads")) {
    a.indexer =
        Indexer{keys.count("index_n_heads", kHeadRange), keys.count("index_head_dim", kSizeRange),
                keys.count("index_topk", kVocabularyRange)};
  }
  return a;
}

// The rates of compression, one a layer: numbers in `compress_ratios`, or names in `layer_types`
// whose numbers `compress_rates` has.
std::vector<std::int64_t> compress_rates(ConfigKeys& keys, std::int64_t layers) {
  std::vector<std::int64_t> rates;
  for (const double rate : keys.numbers("compress_ratios", or_zero(kSizeRange))) {
    rates.push_back(static_cast<std::int64_t>(rate));
  }
  if (rates.empty()) {
    for (const std::string& name : keys.texts("layer_types")) {
      const std::string key = "compress_rates." + name;
      rates.push_back(name == "sliding_attention" ? 0 : keys.count(key, kSizeRange));
    }
  }
  // The list goes on with the layers that predict further tokens.
  if (static_cast<std::int64_t>(rates.size()) < layers) {
    keys.reject("compress_ratios", fmt::format("a number for each of {} layers", layers));
  }
  return rates;
}

// Layers that compress few tokens choose from the vectors (DeepSeek-V4: 4 and 128 tokens).
Attention compressed_attention(ConfigKeys& keys, std::int64_t rate, std::int64_t fewest) {
  Attention a{};
  a.heads = keys.count("num_attention_heads", kHeadRange);
  a.kv_heads = 1;
  a.head_dim = a.value_dim = keys.count("head_dim", kSizeRange);
  a.window = keys.count("sliding_window", kVocabularyRange);
  a.compressed =
      Compressed{keys.count("q_lora_rank", kSizeRange), rate, keys.count("o_groups", kHeadRange),
                 keys.count("o_lora_rank", kSizeRange)};
  if (a.heads % a.compressed->output_groups != 0) {
    keys.reject("o_groups", "a divisor of num_attention_heads");
  }
  const Indexer indexer = read_indexer(keys);
  if (rate > 0 && rate == fewest) a.indexer = indexer;
  return a;
}

void read_compressed(ConfigKeys& keys, const LayerPlan& plan, Transformer& model) {
  const std::vector<std::int64_t> rates = compress_rates(keys, plan.layers());
  std::int64_t fewest = 0;
  for (const std::int64_t rate : rates) {
    if (rate > 0 && (fewest == 0 || rate < fewest)) fewest = rate;
  }
  for (std::int64_t layer = 0; layer < plan.layers(); ++layer) {
    const std::int64_t rate = rates[static_cast<std::size_t>(layer)];
    const auto same = [&](const Attention& a) { return a.compressed->rate == rate; };
    auto found = std::ranges::find_if(model.attentions, same);
    if (found == model.attentions.end()) {
      model.attentions.push_back(compressed_attention(keys, rate, fewest));
      found = std::prev(model.attentions.end());
    }
    ++found->layers;
  }
  // Several residual streams, mixed before and after each half of a layer and before lm_head.
  const std::int64_t streams = keys.count("hc_mult", kHeadRange);
  model.others.push_back(
      {"streams", streams * (streams + 2), streams * model.width, plan.layers(), 2, 2});
  model.others.push_back({"streams_end", streams, streams * model.width, 1});
}

bool equal_sizes(const Attention& a, const Attention& b) {
  return a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim &&
         a.value_dim == b.value_dim && a.window == b.window && a.borrows == b.borrows &&
         a.values_are_keys == b.values_are_keys &&
         (a.indexer ? a.indexer->heads : 0) == (b.indexer ? b.indexer->heads : 0);
}

// The entry of `per_layer_config` for one layer; its keys are the numbers of layers, "05".
Attention for_layer(ConfigKeys& keys, const nlohmann::json& each, std::size_t layer, Attention a) {
  for (const std::string& key : {fmt::format("{:02}", layer), fmt::format("{}", layer)}) {
    const auto found = each.find(key);
    if (found == each.end()) continue;
    const JsonObject own(*found, fmt::format("{}: per_layer_config {}", keys.origin(), key));
    for (const auto& [name, value] : found->items()) {
      if (name == "head_dim") {
        a.head_dim = a.value_dim = own.count("head_dim", kSizeRange);
      } else if (name == "num_key_value_heads") {
        a.kv_heads = own.count("num_key_value_heads", kHeadRange);
      } else {
        own.reject(name, "head_dim and num_key_value_heads");
      }
    }
    check_groups(keys, a);
    break;
  }
  return a;
}

// The sizes of a full and of a local layer.
struct Sizes {
  Attention full;
  Attention local;
};

Sizes read_sizes(ConfigKeys& keys, const LayerPlan& plan, std::int64_t width) {
  if (keys.has_trait("latent")) {
    const Attention latent = latent_attention(keys);
    return {latent, latent};
  }
  const Attention usual = grouped_attention(keys, width);
  Sizes sizes{with_heads(keys, usual, kGlobalHeads), with_heads(keys, usual, kLocalHeads)};
  sizes.full.values_are_keys = keys.flag_or("attention_k_eq_v", false);
  if (plan.count(Mixer::local) > 0) {
    sizes.local.window = read_window(keys);
    if (sizes.local.window == 0) keys.reject("sliding_window", "the tokens of a window");
    sizes.local.chunked = !keys.holds("sliding_window");
  }
  return sizes;
}

}  // namespace

void read_attentions(ConfigKeys& keys, const LayerPlan& plan, Transformer& model) {
  if (plan.count(Mixer::full) + plan.count(Mixer::local) == 0) return;
  if (keys.has_trait("compressed")) {
    read_compressed(keys, plan, model);
    return;
  }
  const Sizes sizes = read_sizes(keys, plan, model.width);
  const nlohmann::json each = keys.value("per_layer_config");
  const std::int64_t borrowing = keys.count_or("num_kv_shared_layers", or_zero(kLayerRange), 0);
  const std::vector<std::string> indexers = keys.texts("indexer_types");
  for (std::size_t layer = 0; layer < plan.mixers.size(); ++layer) {
    const Mixer mixer = plan.mixers[layer];
    if (mixer != Mixer::full && mixer != Mixer::local) continue;
    Attention a = mixer == Mixer::full ? sizes.full : sizes.local;
    if (each.is_object()) a = for_layer(keys, each, layer, a);
    a.borrows = static_cast<std::int64_t>(layer) >= plan.layers() - borrowing;
    const bool shares = layer < indexers.size() && indexers[layer] == "shared";
    if (shares && a.indexer) a.indexer = Indexer{0, 0, a.indexer->chosen};
    const auto same = [&](const Attention& other) { return equal_sizes(other, a); };
    const auto found = std::ranges::find_if(model.attentions, same);
    if (found == model.attentions.end()) {
      model.attentions.push_back(a);
      model.attentions.back().layers = 1;
    } else {
      ++found->layers;
    }
  }
}

}  // namespace ridgebench
