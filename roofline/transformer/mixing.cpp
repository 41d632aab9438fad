#include <algorithm>
#include <cmath>
#include <utility>

#include "roofline/transformer/operations.hpp"

namespace ridgebench {
namespace {

double as_number(std::int64_t value) { return static_cast<double>(value); }

// Pairs of a query and a key that a mask leaves in one sequence.
double pairs_of(double context, double most, bool chunked, bool decode) {
  const double seen = most > 0 ? std::min(most, context) : context;
  if (decode) return seen;
  const double triangle = seen * (seen + 1) / 2;
  if (!chunked) return triangle + (context - seen) * seen;
  const double chunks = std::floor(context / seen);
  const double rest = context - chunks * seen;
  return chunks * triangle + rest * (rest + 1) / 2;
}

// The elements and the FLOPs of one attention for one sequence.
struct Traffic {
  double queries;  // elements
  double outputs;
  double keys;
  double values;
  double score_flops;
  double value_flops;
};

// Keys that attention reads: those of the window, or those that an indexer chooses.
double most_keys(const Attention& a) {
  const double window = as_number(a.window);
  if (!a.indexer) return window;
  const double chosen = as_number(a.indexer->chosen);
  return window > 0 ? std::min(window, chosen) : chosen;
}

// One vector is key and value. Of the compressed ones, a query meets all before it or those that
// the indexer chooses.
Traffic compressed_traffic(const Attention& a, bool decode, double context) {
  const double rate = as_number(a.compressed->rate);
  const double chosen = a.indexer ? as_number(a.indexer->chosen) : 0;
  const double tokens = decode ? 1 : context;
  const double window = as_number(a.window);
  double pairs = pairs_of(context, window, false, decode);
  double read = decode ? std::min(window, context) : context;
  if (rate > 0) {
    const double vectors = pairs_of(context / rate, chosen, false, decode);
    pairs += decode ? vectors : rate * vectors;
    read += decode ? vectors : context / rate;
  }
  const double one = as_number(a.head_dim);
  const double heads = as_number(a.heads);
  const double flops = 2 * pairs * heads * one;
  return {tokens * heads * one, tokens * heads * one, read * one, 0, flops, flops};
}

Traffic traffic_of(const Attention& a, Phase phase, double context) {
  const bool decode = phase == Phase::decode;
  if (a.compressed) return compressed_traffic(a, decode, context);
  const double tokens = decode ? 1 : context;
  const double heads = as_number(a.heads);
  const double most = most_keys(a);
  const double pairs = pairs_of(context, most, a.chunked, decode);
  const double read = decode && most > 0 ? std::min(most, context) : context;
  if (decode && a.latent) {
    const double rank = as_number(a.latent->rank);
    const double key = rank + as_number(a.latent->rotated);
    return {heads * key,
            heads * rank,
            read * key,
            0,
            2 * pairs * heads * key,
            2 * pairs * heads * rank};
  }
  const double key = as_number(a.head_dim);
  const double value = as_number(a.value_dim);
  const double groups = as_number(a.kv_heads);
  return {tokens * heads * key,  tokens * heads * value,  read * groups * key,
          read * groups * value, 2 * pairs * heads * key, 2 * pairs * heads * value};
}

// Adds the products of mixing to a list.
class Mixing {
 public:
  Mixing(Phase phase, const Sequences& sequences, Format format, double cache_bytes)
      : phase_(phase),
        count_(as_number(sequences.count)),
        context_(as_number(sequences.context)),
        element_(info(format).storage_bytes),
        cached_(phase == Phase::decode ? cache_bytes : element_) {}

  void add(const Attention& a) {
    const Traffic t = traffic_of(a, phase_, context_);
    const std::string prefix(mixing_prefix(a));
    const double queries = count_ * element_ * t.queries;
    const double outputs = count_ * element_ * t.outputs;
    const double keys = count_ * cached_ * t.keys;
    const double values = count_ * cached_ * t.values;
    const double scores_flops = count_ * t.score_flops;
    const double values_flops = count_ * t.value_flops;
    if (a.indexer && a.indexer->heads > 0) add_index(a);
    add_row(prefix + "scores", Pass::forward, a.layers, {scores_flops, queries + keys}, 0);
    add_row(prefix + "values", Pass::forward, a.layers, {values_flops, values + outputs}, outputs);
    if (phase_ != Phase::training) return;
    // Each of the two products has two gradients. Read are its two operands, K and Q, or V and dO;
    // written are dK and dQ, or dV.
    add_row(prefix + "scores", Pass::backward, a.layers, {2 * scores_flops, 2 * (queries + keys)},
            queries + keys);
    add_row(prefix + "values", Pass::backward, a.layers, {2 * values_flops, outputs + 2 * values},
            values);
  }

  // A kernel reads and writes the state once for the tokens of a sequence.
  void add(const Recurrence& r) {
    const double tokens = count_ * (phase_ == Phase::decode ? 1 : context_);
    const double state = count_ * as_number(r.state) * kStateElementBytes;
    const Work work{tokens * r.flops_per_token,
                    tokens * as_number(r.passed) * element_ + 2 * state};
    add_row("state", Pass::forward, r.layers, work, state);
    if (phase_ != Phase::training) return;
    add_row("state", Pass::backward, r.layers, {2 * work.flops, 2 * work.bytes}, work.bytes);
  }

  [[nodiscard]] std::vector<LayerWork> products() { return std::move(products_); }

 private:
  // The indexer compares each query with all keys of its own.
  void add_index(const Attention& a) {
    const bool decode = phase_ == Phase::decode;
    const double rate = a.compressed ? as_number(a.compressed->rate) : 1;
    const double pairs = pairs_of(context_, 0, false, decode) / rate;
    const double dim = as_number(a.indexer->head_dim);
    const double heads = as_number(a.indexer->heads);
    const double queries = (decode ? 1 : context_) * heads * dim;
    add_row("index", Pass::forward, a.layers,
            {count_ * 2 * pairs * heads * dim,
             count_ * (element_ * queries + cached_ * context_ / rate * dim)},
            0);
  }

  void add_row(std::string name, Pass pass, std::int64_t layers, const Work& work, double written) {
    products_.push_back({std::move(name), pass, layers, work, written});
  }

  Phase phase_;
  double count_;
  double context_;
  double element_;
  double cached_;
  std::vector<LayerWork> products_;
};

}  // namespace

std::string_view mixing_prefix(const Attention& attention) {
  const bool beyond = attention.compressed && attention.compressed->rate > 0;
  return attention.window > 0 && !beyond ? "local_" : "";
}

std::optional<Shape> attention_decode_shape(const Attention& attention,
                                            const Sequences& sequences) {
  const bool plain = !attention.latent && !attention.compressed && !attention.indexer &&
                     !attention.chunked && attention.value_dim == attention.head_dim;
  if (!plain) return std::nullopt;
  const std::int64_t window = attention.window > 0 ? attention.window : sequences.context;
  return Shape({{"b", sequences.count},
                {"h", attention.heads},
                {"kv", attention.kv_heads},
                {"s", std::min(window, sequences.context)},
                {"d", attention.head_dim}});
}

double training_pairs(const Attention& attention, const Sequences& sequences) {
  const Traffic traffic = traffic_of(attention, Phase::training, as_number(sequences.context));
  const double per_pair = 2 * as_number(attention.head_dim);  // FLOPs of a score
  return as_number(sequences.count) * traffic.score_flops / per_pair;
}

std::vector<LayerWork> mixing_products(const Transformer& model, Phase phase,
                                       const Sequences& sequences, Format format,
                                       double cache_bytes) {
  Mixing mixing(phase, sequences, format, cache_bytes);
  for (const Attention& attention : model.attentions) mixing.add(attention);
  for (const Recurrence& recurrence : model.recurrences) mixing.add(recurrence);
  return mixing.products();
}

}  // namespace ridgebench
