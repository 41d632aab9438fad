#include <string_view>

#include "roofline/transformer/read_parts.hpp"

namespace ridgebench {
namespace {

struct Expert {
  std::int64_t total;
  std::int64_t active;
  std::int64_t width;
  std::int64_t shared;  // width of the experts that serve every token, together
};

Expert read_expert(ConfigKeys& keys) {
  Expert e{};
  e.total = read_expert_count(keys);
  e.active = keys.count("num_experts_per_tok", {1, static_cast<double>(e.total)});
  // Families whose layers are all alike have one key for both widths.
  e.width = keys.count(
      keys.holds("moe_intermediate_size") ? "moe_intermediate_size" : "intermediate_size",
      kSizeRange);
  e.shared = keys.count_or("shared_expert_intermediate_size", or_zero(kSizeRange), 0);
  const std::int64_t shared =
      keys.count_or("n_shared_experts", or_zero(kHeadRange), e.shared > 0 ? 1 : 0);
  e.shared = shared * (e.shared > 0 ? e.shared : e.width);
  return e;
}

// A router chooses from the experts, and in some families there is a gate on the shared ones.
void add_router(const Expert& e, std::int64_t layers, Transformer& model) {
  model.more_parameters +=
      static_cast<double>(e.total) * static_cast<double>(model.width) * static_cast<double>(layers);
}

// Experts that work on a narrower copy of the residual stream (NVIDIA Nemotron 3 Super).
std::int64_t read_latent(ConfigKeys& keys, std::int64_t layers, Transformer& model) {
  const std::int64_t latent = keys.count_or("moe_latent_size", or_zero(kSizeRange), 0);
  if (latent == 0) return 0;
  model.others.push_back({"latent_in", latent, model.width, layers});
  model.others.push_back({"latent_out", model.width, latent, layers});
  return latent;
}

void add_experts(ConfigKeys& keys, std::int64_t layers, bool gated, Transformer& model) {
  const Expert e = read_expert(keys);
  add_router(e, layers, model);
  const std::int64_t latent = read_latent(keys, layers, model);
  model.networks.push_back({"expert_", layers, e.width, gated, e.total, e.active, latent});
  if (e.shared > 0) model.networks.push_back({"shared_", layers, e.shared, gated});
}

std::int64_t dense_width(ConfigKeys& keys, std::int64_t width) {
  const nlohmann::json& ratio = keys.trait("widths");
  if (!keys.holds("intermediate_size") && ratio.is_number()) {
    constexpr Range kRatios{1, 64};
    const double times = keys.number_or("expansion_ratio", kRatios, ratio.get<double>());
    return static_cast<std::int64_t>(times * static_cast<double>(width));
  }
  const std::int64_t inner = keys.count("intermediate_size", kSizeRange);
  if (!keys.has_trait("width_of_both")) return inner;
  // The first version of Qwen states the width of gate and up together.
  if (inner % 2 != 0) keys.reject("intermediate_size", "an even number");
  return inner / 2;
}

// The last layers, which borrow keys and values, may have networks of twice the width.
std::int64_t doubled_layers(ConfigKeys& keys, std::int64_t dense) {
  if (!keys.flag_or("use_double_wide_mlp", false)) return 0;
  return std::min(dense, keys.count_or("num_kv_shared_layers", or_zero(kLayerRange), 0));
}

}  // namespace

void read_networks(ConfigKeys& keys, const LayerPlan& plan, bool gated, Transformer& model) {
  const std::int64_t sparse = plan.count(NetworkKind::sparse);
  const bool both = sparse > 0 && keys.has_trait("dense_beside_experts");
  const std::int64_t dense = plan.count(NetworkKind::dense) + (both ? sparse : 0);
  if (dense > 0) {
    const std::int64_t width = dense_width(keys, model.width);
    const std::int64_t doubled = doubled_layers(keys, dense);
    if (dense > doubled) model.networks.push_back({"", dense - doubled, width, gated});
    if (doubled > 0) model.networks.push_back({"", doubled, 2 * width, gated});
  }
  if (sparse > 0) add_experts(keys, sparse, gated, model);
}

void read_embeddings(ConfigKeys& keys, Transformer& model) {
  model.positions = keys.count_or("learned_positions", or_zero(kVocabularyRange), 0);
  if (model.positions > 0)
    model.positions += keys.count_or("position_offset", or_zero(kHeadRange), 0);
  const std::int64_t embedded = keys.count_or("embedding_width", kSizeRange, model.width);
  if (embedded != model.width) {
    model.embedding_width = embedded;
    model.others.push_back({"project_in", model.width, embedded, 1});
    model.others.push_back({"project_out", embedded, model.width, 1});
  }
  // Norms and biases count in small models.
  const nlohmann::json& vectors = keys.trait("vectors_per_layer");
  if (vectors.is_number()) {
    model.more_parameters +=
        vectors.get<double>() * static_cast<double>(model.width * model.layers);
  }
  // Gemma 4 embeds each token once more for every layer.
  const std::int64_t each = keys.count_or("hidden_size_per_layer_input", or_zero(kSizeRange), 0);
  if (each == 0) return;
  const std::int64_t all = each * model.layers;
  model.more_parameters +=
      static_cast<double>(keys.count("vocab_size_per_layer_input", kVocabularyRange)) *
      static_cast<double>(all);
  model.others.push_back({"per_layer_inputs", all, model.width, 1});
  model.others.push_back({"per_layer_gate", each, model.width, model.layers});
  model.others.push_back({"per_layer_projection", model.width, each, model.layers});
}

}  // namespace ridgebench
