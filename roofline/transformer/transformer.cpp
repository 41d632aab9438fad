#include "roofline/transformer/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ridgebench {
namespace {

double as_product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

double embeddings(const Transformer& model) {
  const std::int64_t width = model.embedding_width > 0 ? model.embedding_width : model.width;
  const double tokens = model.tied ? 0 : as_product(model.vocabulary, width);
  return tokens + as_product(model.positions, model.width) + model.more_parameters;
}

// Adds a linear layer, or its layers to an equal one.
void add_linear(std::vector<Linear>& linears, const Linear& added) {
  if (added.layers == 0 || added.outputs == 0) return;
  const auto equal = [&](const Linear& l) {
    return l.name == added.name && l.outputs == added.outputs && l.inputs == added.inputs &&
           l.experts == added.experts && l.active == added.active;
  };
  const auto found = std::ranges::find_if(linears, equal);
  if (found == linears.end()) {
    linears.push_back(added);
  } else {
    found->layers += added.layers;
    if (found->split != added.split) found->split.clear();
  }
}

void add_latent(std::vector<Linear>& linears, const Attention& a, std::int64_t width) {
  const Latent& latent = *a.latent;
  const std::int64_t queries = a.heads * a.head_dim;
  if (latent.query_rank > 0) {
    add_linear(linears, {"q_a", latent.query_rank, width, a.layers});
    add_linear(linears, {"q_b", queries, latent.query_rank, a.layers});
  } else {
    add_linear(linears, {"q", queries, width, a.layers});
  }
  const std::int64_t made = a.heads * (a.head_dim - latent.rotated + a.value_dim);
  add_linear(linears, {"kv_a", latent.rank + latent.rotated, width, a.layers});
  add_linear(linears, {"kv_b", made, latent.rank, a.layers});
}

void add_indexer(std::vector<Linear>& linears, const Attention& a, std::int64_t width) {
  if (!a.indexer) return;
  const std::int64_t rank = a.latent ? a.latent->query_rank : 0;
  add_linear(linears, {"index_q", a.indexer->heads * a.indexer->head_dim, rank > 0 ? rank : width,
                       a.layers});
  add_linear(linears, {"index_k", a.indexer->head_dim + a.indexer->heads, width, a.layers});
}

// A vector of a token, or of several, is a weighted sum: there is a product for the vectors and one
// for the weights, also for the keys of the indexer.
void add_compressed(std::vector<Linear>& linears, const Attention& a, std::int64_t width) {
  const Compressed& c = *a.compressed;
  const std::int64_t queries = a.heads * a.head_dim;
  add_linear(linears, {"q_a", c.query_rank, width, a.layers});
  add_linear(linears, {"q_b", queries, c.query_rank, a.layers});
  add_linear(linears, {"kv", a.head_dim, width, a.layers});
  const std::int64_t products = a.indexer ? 4 : 2;
  if (c.rate > 0) add_linear(linears, {"compress", products * a.head_dim, width, a.layers});
  if (a.indexer) {
    add_linear(linears,
               {"index_q", a.indexer->heads * a.indexer->head_dim, c.query_rank, a.layers});
    add_linear(linears,
               {"index_k", products * a.indexer->head_dim + a.indexer->heads, width, a.layers});
  }
  add_linear(linears, {"o_a", c.output_rank, queries / c.output_groups, a.layers, c.output_groups,
                       c.output_groups});
  add_linear(linears, {"o_b", width, c.output_groups * c.output_rank, a.layers});
}

void add_attention(std::vector<Linear>& linears, const Attention& a, std::int64_t width) {
  if (a.compressed) {
    add_compressed(linears, a, width);
    return;
  }
  if (a.latent) {
    add_latent(linears, a, width);
  } else {
    const std::int64_t queries = a.heads * a.head_dim * (a.output_gate ? 2 : 1);
    const std::int64_t made = a.head_dim + (a.values_are_keys ? 0 : a.value_dim);
    const std::int64_t keys = a.kv_heads * a.head_dim;
    Linear linear{a.borrows ? "q" : "qkv", queries + (a.borrows ? 0 : a.kv_heads * made), width,
                  a.layers};
    if (!a.borrows) linear.split = {queries, keys};
    if (!a.borrows && !a.values_are_keys) linear.split.push_back(a.kv_heads * a.value_dim);
    add_linear(linears, linear);
  }
  add_indexer(linears, a, width);
  add_linear(linears, {"o", width, a.heads * a.value_dim, a.layers});
}

void add_network(std::vector<Linear>& linears, const Network& n, std::int64_t width) {
  const std::int64_t inputs = n.inputs > 0 ? n.inputs : width;
  const auto add = [&](std::string_view name, std::int64_t outputs, std::int64_t from,
                       std::vector<std::int64_t> split = {}) {
    add_linear(linears, {fmt::format("{}{}", n.prefix, name), outputs, from, n.layers, n.experts,
                         n.active, std::move(split)});
  };
  if (n.gated) {
    add("gate_up", 2 * n.width, inputs, {n.width, n.width});
  } else {
    add("up", n.width, inputs);
  }
  add("down", inputs, n.width);
}

}  // namespace

double Linear::parameters() const {
  return as_product(outputs, inputs) * as_product(layers, experts);
}

double Linear::active_parameters() const {
  return as_product(outputs, inputs) * as_product(layers, active);
}

double Attention::cached() const {
  if (borrows) return 0;
  const auto index = static_cast<double>(indexer ? indexer->head_dim : 0);
  const auto one = static_cast<double>(head_dim);
  if (compressed) {
    const auto rate = static_cast<double>(compressed->rate);
    return one + (rate > 0 ? (one + index) / rate : 0);
  }
  const std::int64_t elements =
      latent ? latent->rank + latent->rotated : kv_heads * (head_dim + value_dim);
  return index + static_cast<double>(elements);
}

double Attention::cached(std::int64_t context) const {
  const std::int64_t seen = window > 0 ? std::min(window, context) : context;
  if (!compressed || borrows) return cached() * static_cast<double>(seen);
  const std::int64_t vectors = compressed->rate > 0 ? context / compressed->rate : 0;
  const std::int64_t index = indexer ? indexer->head_dim : 0;
  return as_product(seen, head_dim) + as_product(vectors, head_dim + index);
}

std::vector<Linear> linear_layers(const Transformer& model) {
  std::vector<Linear> linears;
  for (const Attention& a : model.attentions) add_attention(linears, a, model.width);
  for (const Linear& l : model.others) add_linear(linears, l);
  for (const Network& n : model.networks) add_network(linears, n, model.width);
  const std::int64_t width = model.embedding_width > 0 ? model.embedding_width : model.width;
  linears.push_back({std::string(kHead), model.vocabulary, width, 1});
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

double weights_bytes(const Transformer& model, const WeightFormats& weights, Format usual) {
  double sum = embeddings(model) * weights.other_bytes(usual);
  for (const Linear& linear : linear_layers(model)) {
    sum += linear.parameters() * weights.bytes(linear.name, usual);
  }
  return sum;
}

double cached_elements(const Transformer& model) {
  double sum = 0;
  for (const Attention& a : model.attentions) sum += static_cast<double>(a.layers) * a.cached();
  return sum;
}

double cached_elements(const Transformer& model, std::int64_t context) {
  double sum = 0;
  for (const Attention& a : model.attentions) {
    sum += static_cast<double>(a.layers) * a.cached(context);
  }
  return sum;
}

double state_elements(const Transformer& model) {
  double sum = 0;
  for (const Recurrence& r : model.recurrences) sum += as_product(r.layers, r.state);
  return sum;
}

std::string context_note(const Transformer& model, double context) {
  const auto longest = static_cast<double>(model.longest_context);
  if (longest == 0 || context <= longest) return "";
  return fmt::format("the config allows a context of {:.0f} tokens", longest);
}

}  // namespace ridgebench
