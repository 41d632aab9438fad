#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "roofline/transformer/layer_plan.hpp"

namespace ridgebench {
namespace {

// By "dense" and "sparse", or by the numbers 0 and 1; empty without a list.
std::vector<NetworkKind> listed_networks(ConfigKeys& keys, std::int64_t layers) {
  std::vector<NetworkKind> kinds;
  constexpr std::array<std::string_view, 3> kSparse{"sparse", "moe", "hash_moe"};
  for (const std::string& name : keys.texts("mlp_layer_types")) {
    const bool sparse = std::ranges::find(kSparse, name) != kSparse.end();
    if (!sparse && name != "dense") keys.reject("mlp_layer_types", "an array of dense and sparse");
    kinds.push_back(sparse ? NetworkKind::sparse : NetworkKind::dense);
  }
  if (!kinds.empty()) {
    check_layer_count(keys, "mlp_layer_types", kinds.size(), layers);
    return kinds;
  }
  if (!keys.is_list("moe_layer_freq")) return kinds;
  for (const double number : keys.numbers("moe_layer_freq", {0, 1})) {
    kinds.push_back(number == 0 ? NetworkKind::dense : NetworkKind::sparse);
  }
  check_layer_count(keys, "moe_layer_freq", kinds.size(), layers);
  return kinds;
}

// A class with the width of a network among its sizes, and no experts, has no mixture of experts:
// it ignores such keys, and a warning names them.
bool may_have_experts(const ConfigKeys& keys) {
  const bool dense = keys.has_default_size("intermediate_size") &&
                     !keys.has_default_size("num_experts") &&
                     !keys.has_default_size("num_experts_per_tok") &&
                     !keys.has_default_size("moe_intermediate_size");
  return !dense || keys.has_trait("dense_beside_experts");
}

bool is_in(const std::vector<double>& sorted, std::int64_t layer) {
  return std::ranges::binary_search(sorted, static_cast<double>(layer));
}

}  // namespace

// From the first to the last layer that may have experts, every `step`-th one has some, or those
// that a list names.
std::vector<NetworkKind> read_network_kinds(ConfigKeys& keys, std::int64_t layers) {
  constexpr std::array<std::string_view, 6> kRules{"first_k_dense_replace", "decoder_sparse_step",
                                                   "moe_layer_freq",        "moe_layer_end_index",
                                                   "mlp_only_layers",       "moe_layers"};
  std::vector<NetworkKind> kinds = listed_networks(keys, layers);
  if (read_expert_count(keys) == 0) {
    kinds.assign(static_cast<std::size_t>(layers), NetworkKind::dense);
  }
  if (!kinds.empty()) {
    for (const std::string_view rule : kRules) keys.skip(rule);
    return kinds;
  }
  const std::int64_t first = keys.count_or("first_k_dense_replace", or_zero(kLayerRange), 0);
  const std::int64_t step = keys.count_or("decoder_sparse_step", kLayerRange, 1);
  const std::int64_t freq = keys.count_or("moe_layer_freq", kLayerRange, 1);
  const double last = keys.number_or("moe_layer_end_index", {-1, kLayerRange.high}, -1);
  const std::vector<double> dense = keys.sorted_numbers("mlp_only_layers", or_zero(kLayerRange));
  const std::vector<double> only = keys.sorted_numbers("moe_layers", or_zero(kLayerRange));
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool on = only.empty() ? (i + 1) % step == 0 && i % freq == 0 : is_in(only, i);
    const bool inside = i >= first && (last < 0 || static_cast<double>(i) <= last);
    kinds.push_back(on && inside && !is_in(dense, i) ? NetworkKind::sparse : NetworkKind::dense);
  }
  return kinds;
}

std::int64_t read_expert_count(ConfigKeys& keys) {
  if (!may_have_experts(keys)) return 0;
  // Gemma 4 says whether it has some.
  const bool used = keys.flag_or("enable_moe_block", true);
  const std::int64_t experts = keys.count_or("num_experts", or_zero(kSizeRange), 0);
  return used ? experts : 0;
}

}  // namespace ridgebench
