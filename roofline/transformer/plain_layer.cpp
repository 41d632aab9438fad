#include "roofline/transformer/plain_layer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

using nlohmann::json;

// Keys that add a vector to the outputs of a product, or a norm to queries and keys, if true.
constexpr std::array<std::string_view, 11> kAdditions{
    "attention_bias", "mlp_bias",        "bias",         "use_bias",         "qkv_bias",
    "use_qkv_bias",   "add_bias_linear", "qk_layernorm", "use_qk_layernorm", "use_qk_norm",
    "qk_norm"};

void require_one_kind_of_layer(ConfigKeys& keys, const Transformer& model) {
  const auto sparse = [](const Network& n) { return n.experts > 1; };
  if (std::ranges::any_of(model.networks, sparse)) {
    keys.reject("num_experts", "a model without a mixture of experts");
  }
  for (const Attention& a : model.attentions) {
    if (a.latent) keys.reject("kv_lora_rank", "attention without latent vectors");
    if (a.compressed) keys.reject("compress_ratios", "attention to every token");
    if (a.indexer) keys.reject("index_topk", "attention to every token");
    if (a.window > 0) {
      const char* const key = a.chunked ? "attention_chunk_size" : "sliding_window";
      keys.reject(key, "null: attention to all tokens before");
    }
    if (a.output_gate) keys.reject("attn_output_gate", "attention without a gate");
    if (a.values_are_keys) keys.reject("attention_k_eq_v", "products of their own for k and v");
    if (a.borrows) keys.reject("num_kv_shared_layers", "0: keys and values of each layer");
    if (a.value_dim != a.head_dim) keys.reject("v_head_dim", fmt::format("{}", a.head_dim));
  }
}

// Queries and keys turn as a whole, by angles of their own or scaled: the time is the same.
void require_whole_rotation(ConfigKeys& keys) {
  for (const json& holder :
       {keys.value("partial_rotary_factor"),
        keys.value("rope_parameters").is_object()
            ? keys.value("rope_parameters").value("partial_rotary_factor", json())
            : json()}) {
    if (holder.is_number() && holder != 1) {
      throw UsageError(
          fmt::format("{}: partial_rotary_factor is {}; allowed: 1, a rotation of whole heads",
                      keys.origin(), json_line(holder)));
    }
  }
}

// Config files leave out what each layer of a family has. The table names the plain families, and
// of others what their layers have.
void require_plain_family(const ConfigKeys& keys, const std::string& type) {
  const json& plain = common_keys().at("plain_layers");
  if (std::ranges::find(plain, json(type)) != plain.end()) return;
  const json& others = common_keys().at("other_layers");
  const std::string has = others.contains(type)
                              ? fmt::format(": its layers have {}", others[type].get<std::string>())
                              : "";
  throw UsageError(fmt::format("{}: model_type is {}{}; allowed: {}", keys.origin(),
                               type.empty() ? "missing" : type, has,
                               fmt::join(plain.get<std::vector<std::string>>(), ", ")));
}

void require_plain(ConfigKeys& keys, const std::string& type, const Transformer& model) {
  require_one_kind_of_layer(keys, model);
  require_plain_family(keys, type);
  const std::string activation = keys.text_or("hidden_act", "silu");
  if (activation != "silu" && activation != "swish") {
    keys.reject("hidden_act", "silu and swish, the activations of SwiGLU");
  }
  for (const std::string_view addition : kAdditions) {
    if (keys.value(addition) == true) keys.reject(addition, "false: layers without it");
  }
  require_whole_rotation(keys);
  if (keys.file().holds("quantization_config")) {
    throw UsageError(fmt::format(
        "{}: quantization_config: products of stored formats have no kernel; allowed: a config "
        "without it",
        keys.origin()));
  }
  const bool equal = model.attentions.size() == 1 && model.networks.size() == 1 &&
                     model.attentions.front().layers == model.layers &&
                     model.networks.front().layers == model.layers && model.others.empty();
  if (!equal) {
    throw UsageError(
        fmt::format("{}: its layers differ; allowed: a model of equal layers", keys.origin()));
  }
}

}  // namespace

std::string why_not_plain(ConfigKeys& keys, const std::string& type, const Transformer& model) {
  try {
    require_plain(keys, type, model);
  } catch (const UsageError& reason) {
    return reason.what();
  }
  return "";
}

}  // namespace ridgebench
