#include "roofline/transformer/transformer.hpp"

namespace ridgebench {
namespace {

double as_product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

double embeddings(const Transformer& model) {
  const double tokens = model.tied ? 0 : as_product(model.vocabulary, model.width);
  return tokens + as_product(model.positions, model.width);
}

// The names of the two products of a network.
struct Names {
  std::string_view gated_up;
  std::string_view up;
  std::string_view down;
};

}  // namespace

double Linear::parameters() const {
  return as_product(outputs, inputs) * as_product(layers, experts);
}

double Linear::active_parameters() const {
  return as_product(outputs, inputs) * as_product(layers, active);
}

std::vector<Linear> linear_layers(const Transformer& model) {
  std::vector<Linear> linears{
      {"qkv", (model.heads + 2 * model.kv_heads) * model.head_dim, model.width, model.layers},
      {"o", model.width, model.heads * model.head_dim, model.layers}};
  const auto add_network = [&](const Names& names, std::int64_t width, std::int64_t layers,
                               std::int64_t total, std::int64_t active) {
    if (width == 0 || layers == 0) return;
    const std::int64_t outputs = model.gated ? 2 * width : width;
    linears.push_back(
        {model.gated ? names.gated_up : names.up, outputs, model.width, layers, total, active});
    linears.push_back({names.down, model.width, width, layers, total, active});
  };
  const auto& experts = model.experts;
  add_network({"gate_up", "up", "down"}, model.feed_forward,
              model.layers - (experts ? experts->layers : 0), 1, 1);
  if (experts) {
    add_network({"expert_gate_up", "expert_up", "expert_down"}, experts->width, experts->layers,
                experts->total, experts->active);
    add_network({"shared_gate_up", "shared_up", "shared_down"}, experts->shared_width,
                experts->layers, 1, 1);
  }
  linears.push_back({kHead, model.vocabulary, model.width, 1});
  return linears;
}

double parameters(const Transformer& model) {
  double sum = embeddings(model);
  for (const Linear& linear : linear_layers(model)) sum += linear.parameters();
  return sum;
}

double active_parameters(const Transformer& model) {
  double sum = embeddings(model);
  for (const Linear& linear : linear_layers(model)) sum += linear.active_parameters();
  return sum;
}

double cached_elements(const Transformer& model) {
  return 2 * as_product(model.layers, model.kv_heads) * static_cast<double>(model.head_dim);
}

}  // namespace ridgebench
