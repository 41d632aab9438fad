#include "roofline/transformer/predict_transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/common/error.hpp"
#include "roofline/nullable.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/state.hpp"
#include "roofline/prediction.hpp"
#include "roofline/transformer/operations.hpp"
#include "roofline/transformer/prediction_notes.hpp"
#include "roofline/transformer/step_work.hpp"
#include "roofline/transformer/tensor_parallel.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kAttention = "attention";
constexpr std::string_view kState = "state";

// One operation of a pass. Its work and its times are those of one layer.
struct Row {
  std::string name;
  std::string_view role;
  Pass pass;
  std::optional<Shape> shape;  // of a linear layer's product
  std::int64_t layers;
  std::int64_t products;
  Work work;
  std::optional<LowerBounds> bounds;  // empty if nothing is known to bound it
  std::optional<double> achieved_s = std::nullopt;

  [[nodiscard]] double times_layers(double per_layer) const {
    return per_layer * static_cast<double>(layers);
  }
  // Seconds of all layers; 0 if nothing bounds them.
  [[nodiscard]] double lowest_s() const { return bounds ? times_layers(bounds->lowest_s) : 0; }
  [[nodiscard]] bool linear_in_layer() const { return shape && name != kHead; }
  [[nodiscard]] bool mixes() const { return role == kAttention || role == kState; }
};

// A training step computes with the weights of its state, in the format of the products.
WeightFormats weights_of(const TransformerQuestion& question, const Transformer& model) {
  if (question.training) return {};
  return question.weights ? weights_in(*question.weights) : model.weights;
}

std::optional<StoredFormat> cache_of(const TransformerQuestion& question,
                                     const Transformer& model) {
  if (question.training) return std::nullopt;
  return question.cache ? question.cache : model.cache;
}

// Answers one question about one model on one device.
class Predictor {
 public:
  Predictor(const Operation& matmul, const Transformer& model, const TransformerQuestion& question,
            const Roofs& roofs, const AchievedTime& achieved)
      : matmul_(matmul),
        whole_(model),
        model_(shard_of(model, question.ranks, "--tensor-parallel")),
        question_(question),
        roofs_(roofs),
        achieved_(achieved),
        cache_format_(product_format(question.format)),
        weights_(weights_of(question, model)),
        cache_(cache_of(question, model)) {}

  [[nodiscard]] ordered_json answer() const {
    ordered_json phases = ordered_json::array();
    if (!question_.training) phases.push_back(phase_json(Phase::prefill, 1));
    for (const std::int64_t batch : question_.batches) {
      phases.push_back(phase_json(question_.training ? Phase::training : Phase::decode, batch));
    }
    ordered_json reply = facts();
    reply["phases"] = std::move(phases);
    reply["notes"] = prediction_notes(model_, {.question = question_,
                                               .launch_floor_s = roofs_.launch_floor_s(),
                                               .missing_peak = missing_peak()});
    return reply;
  }

 private:
  [[nodiscard]] std::optional<std::string> missing_peak() const {
    if (!question_.training || roofs_.arithmetic_roof(Engine::fma, question_.format)) {
      return std::nullopt;
    }
    return missing_peak_note(roofs_);
  }
  [[nodiscard]] double weights_bytes() const {
    return ridgebench::weights_bytes(model_, weights_, question_.format.b);
  }
  [[nodiscard]] double cache_element_bytes() const {
    return cache_ ? cache_->bytes_per_value() : info(cache_format_).storage_bytes;
  }
  [[nodiscard]] double cache_bytes(std::int64_t batch) const {
    const double cached = cached_elements(model_, question_.context) * cache_element_bytes();
    return (cached + state_elements(model_) * kStateElementBytes) * static_cast<double>(batch);
  }
  // Sequences whose cache fits beside the weights; empty if the memory is unknown.
  [[nodiscard]] std::optional<double> largest_batch() const {
    if (question_.training || !roofs_.memory_bytes() || cache_bytes(1) == 0) return std::nullopt;
    const double room = *roofs_.memory_bytes() - weights_bytes();
    return std::max(0.0, std::floor(room / cache_bytes(1)));
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> all = model_.warnings;
    const bool stored = !question_.training && !question_.weights;
    if (stored) all.insert(all.end(), model_.stored_warnings.begin(), model_.stored_warnings.end());
    return all;
  }

  // Null unless the question is about training.
  [[nodiscard]] ordered_json trained(const ordered_json& value) const {
    return question_.training ? value : ordered_json(nullptr);
  }

  [[nodiscard]] ordered_json facts() const {
    return {{"model", model_.name},
            {"source", model_.source.empty() ? ordered_json(nullptr) : ordered_json(model_.source)},
            {"device", roofs_.name()},
            {"format", question_.format.name()},
            {"weights_format", weights_.any() ? ordered_json(weights_.name()) : nullptr},
            {"cache_format", cache_ ? cache_->name : std::string(info(cache_format_).name)},
            {"context", question_.context},
            {"layers", model_.layers},
            {"parameters", parameters(whole_)},
            {"active_parameters", active_parameters(whole_)},
            {"ranks", question_.ranks},
            {"link", question_.link ? ordered_json(question_.link->name) : nullptr},
            {"weights_bytes", weights_bytes()},
            {"kv_cache_bytes_per_token", cached_elements(model_) * cache_element_bytes()},
            {"memory_bytes", nullable(roofs_.memory_bytes())},
            {"largest_batch", nullable(largest_batch())},
            {"precision", trained(question_.state.precision)},
            {"optimizer", trained(question_.state.optimizer)},
            {"warnings", warnings()}};
  }

  [[nodiscard]] std::optional<LowerBounds> bounds_with(Engine engine, const Work& work,
                                                       double written_fraction, FormatPair format,
                                                       double special_results = 0) const {
    const LimitingRates rates = limiting_rates(roofs_, engine, format, written_fraction);
    return lower_bounds(work, rates, special_results, roofs_);
  }

  // The bytes of stored weights beyond those in the format of the product, which reads them.
  [[nodiscard]] double stored_more(const LinearProduct& linear) const {
    if (!weights_.any() || linear.pass != Pass::forward) return 0;
    const Shape& shape = linear.shape;
    const double each =
        weights_.bytes(linear.name, question_.format.b) - info(question_.format.b).storage_bytes;
    return each * static_cast<double>(shape["n"]) * static_cast<double>(shape["k"]);
  }

  // The time of the product as a whole or, if that was not measured, of the products that compute
  // it one after another. No kernel reads weights in another format than that of the product.
  [[nodiscard]] std::optional<double> achieved_s(const LinearProduct& linear) const {
    if (stored_more(linear) != 0) return std::nullopt;
    std::optional<double> found_s = achieved_(matmul_.name, linear.shape);
    if (found_s || linear.split.empty()) return found_s;
    double sum_s = 0;
    for (const Shape& shape : linear.split) {
      const std::optional<double> one_s = achieved_(matmul_.name, shape);
      if (!one_s) return std::nullopt;
      sum_s += *one_s;
    }
    return sum_s;
  }

  // The experts of a layer are one row: one launch may serve all of them.
  [[nodiscard]] Row row_of(const LinearProduct& linear) const {
    const auto products = static_cast<double>(linear.products);
    const Work work{
        products * matmul_.flops(linear.shape),
        products * (bytes(matmul_, linear.shape, question_.format) + stored_more(linear))};
    const double written = written_fraction(matmul_, linear.shape, question_.format);
    Row row{linear.name,
            "linear",
            linear.pass,
            linear.shape,
            linear.layers,
            linear.products,
            work,
            bounds_with(matmul_.engine, work, written, question_.format),
            achieved_s(linear)};
    if (row.achieved_s) *row.achieved_s *= products;
    return row;
  }

  [[nodiscard]] std::vector<Row> rows_of(Phase phase, const Sequences& sequences,
                                         std::int64_t tokens) const {
    const bool training = phase == Phase::training;
    const std::int64_t head_tokens = phase == Phase::prefill ? sequences.count : tokens;
    std::vector<Row> rows;
    for (const LinearProduct& linear :
         linear_products(matmul_, model_, tokens, head_tokens, training)) {
      rows.push_back(row_of(linear));
    }
    for (const LayerWork& one :
         mixing_products(model_, phase, sequences, cache_format_, cache_element_bytes())) {
      rows.push_back(row_of(one, one.name == kState ? kState : kAttention, matmul_.engine));
    }
    if (training) add_step(rows, sequences);
    return rows;
  }

  // Norms, softmax, residuals, activation functions and the loss, then the optimizer's step. CUDA
  // cores do their arithmetic.
  void add_step(std::vector<Row>& rows, const Sequences& sequences) const {
    for (const LayerWork& one : step_work(model_, sequences, cache_format_)) {
      const bool softmax = one.name.ends_with("softmax");
      rows.push_back(row_of(one, softmax ? kAttention : "elementwise", Engine::fma));
    }
    const auto [read, written, flops] = optimizer_step(question_.state);
    const double all = parameters(model_);
    const Work work{all * flops, all * (read + written)};
    rows.push_back(row_of({question_.state.optimizer, Pass::step, 1, work, all * written},
                          "optimizer", Engine::fma));
  }

  [[nodiscard]] Row row_of(const LayerWork& one, std::string_view role, Engine engine) const {
    const double written = one.work.bytes > 0 ? one.written_bytes / one.work.bytes : 0;
    return {one.name,   role,
            one.pass,   std::nullopt,
            one.layers, 1,
            one.work,   bounds_with(engine, one.work, written, cache_format_, one.special_results)};
  }

  [[nodiscard]] std::int64_t tokens_of(Phase phase, std::int64_t batch) const {
    if (phase == Phase::decode) return batch;
    const double tokens = static_cast<double>(batch) * static_cast<double>(question_.context);
    if (tokens > kMostTokens) {
      throw UsageError(fmt::format("batch x context is {:g} tokens; allowed: at most {:.0f}",
                                   tokens, kMostTokens));
    }
    return batch * question_.context;
  }

  [[nodiscard]] ordered_json phase_json(Phase phase, std::int64_t batch) const {
    const std::int64_t tokens = tokens_of(phase, batch);
    const std::vector<Row> rows = rows_of(phase, {batch, question_.context}, tokens);
    ordered_json reply{{"phase", name(phase)}, {"batch", batch}, {"tokens", tokens}};
    add_sums(reply, rows);
    if (phase == Phase::decode) {
      reply["attention_achieved_s"] = nullable(attention_achieved_s({batch, question_.context}));
    }
    add_communication(reply, phase, batch, tokens);
    add_memory(reply, phase, batch);
    return reply;
  }

  // Adds the bytes that a rank sends in a phase; null with one rank. Both phases compute the logits
  // of one token of each sequence.
  void add_communication(ordered_json& reply, Phase phase, std::int64_t batch,
                         std::int64_t tokens) const {
    reply["communication_bytes"] = nullptr;
    reply["link_time_s"] = nullptr;
    reply["communication"] = nullptr;
    if (question_.ranks == 1 || phase == Phase::training) return;
    const auto exchanges =
        exchanges_of_inference(model_, question_.ranks, static_cast<double>(tokens),
                               static_cast<double>(batch), info(cache_format_).storage_bytes);
    const double sent = sent_bytes(exchanges, question_.ranks);
    reply["communication_bytes"] = sent;
    if (question_.link) reply["link_time_s"] = sent / question_.link->bytes_per_s;
    reply["communication"] = ordered_json::array();
    for (const Exchange& one : exchanges) {
      reply["communication"].push_back({{"name", one.what},
                                        {"collective", one.collective},
                                        {"times", one.times},
                                        {"message_bytes", one.message_bytes},
                                        {"bytes", one.sent_bytes(question_.ranks)}});
    }
  }

  // Inference holds the weights and the cache, training its state and the activations.
  void add_memory(ordered_json& reply, Phase phase, std::int64_t batch) const {
    const bool cached = phase != Phase::training;
    const double first = cached ? weights_bytes() : state_bytes();
    const double second = cached ? cache_bytes(batch) : activation_bytes(batch);
    reply["kv_cache_bytes"] = cached ? ordered_json(second) : ordered_json(nullptr);
    reply["state_bytes"] = trained(first);
    reply["activation_bytes"] = trained(second);
    reply["fits"] = nullptr;
    if (roofs_.memory_bytes()) reply["fits"] = first + second <= *roofs_.memory_bytes();
  }

  [[nodiscard]] double state_bytes() const {
    return parameters(model_) * bytes_on_all_ranks(state_parts(question_.state), {});
  }
  [[nodiscard]] double activation_bytes(std::int64_t batch) const {
    const ActivationQuestion kept{.model = model_,
                                  .context = static_cast<double>(question_.context),
                                  .batch = static_cast<double>(batch),
                                  .format = cache_format_};
    return kept_bytes(network_bytes(kept, kept.batch), kept.checkpoint).bytes;
  }

  // Mean over all layers; empty unless all attentions were measured. A stored cache has no kernel.
  [[nodiscard]] std::optional<double> attention_achieved_s(const Sequences& sequences) const {
    if (cache_ || model_.attentions.empty()) return std::nullopt;
    double sum_s = 0;
    for (const Attention& attention : model_.attentions) {
      const std::optional<Shape> shape = attention_decode_shape(attention, sequences);
      const auto layer_s = shape ? achieved_(kAttentionDecode, *shape) : std::nullopt;
      if (!layer_s) return std::nullopt;
      sum_s += static_cast<double>(attention.layers) * *layer_s;
    }
    return sum_s / static_cast<double>(model_.layers);
  }

  void add_sums(ordered_json& reply, const std::vector<Row>& rows) const {
    double flops = 0;
    double moved = 0;
    double time_s = 0;
    double linear_s = 0;
    double achieved_s = 0;
    bool all_measured = true;
    double attention_s = 0;
    for (const Row& row : rows) {
      const double row_s = row.lowest_s();
      flops += row.times_layers(row.work.flops);
      moved += row.times_layers(row.work.bytes);
      time_s += row_s;
      if (row.mixes()) attention_s += row_s;
      if (!row.linear_in_layer()) continue;
      linear_s += row_s;
      all_measured = all_measured && row.achieved_s;
      achieved_s += row.times_layers(row.achieved_s.value_or(0));
    }
    const auto layers = static_cast<double>(model_.layers);
    reply["flops"] = flops;
    reply["bytes"] = moved;
    reply["time_lower_bound_s"] = time_s;
    reply["tokens_per_s"] = reply["tokens"].get<double>() / time_s;
    reply["layer_linear_s"] = linear_s / layers;
    reply["layer_linear_achieved_s"] =
        all_measured ? ordered_json(achieved_s / layers) : ordered_json(nullptr);
    reply["attention_achieved_s"] = nullptr;
    reply["attention_share"] = attention_s / time_s;
    ordered_json operations = ordered_json::array();
    for (const Row& row : rows) operations.push_back(row_json(row, time_s));
    reply["operations"] = std::move(operations);
  }

  [[nodiscard]] ordered_json row_json(const Row& row, double phase_s) const {
    return {{"name", row.name},
            {"role", row.role},
            {"pass", name(row.pass)},
            {"op", row.shape ? ordered_json(matmul_.name) : ordered_json(nullptr)},
            {"shape", row.shape ? sizes_of(*row.shape) : ordered_json(nullptr)},
            {"layers", row.layers},
            {"products", row.products},
            {"flops", row.work.flops},
            {"bytes", row.work.bytes},
            {"intensity_flop_per_byte", nullable(row.work.intensity())},
            {"bound", row.bounds ? ordered_json(name(row.bounds->limit)) : ordered_json(nullptr)},
            {"time_lower_bound_s",
             row.bounds ? ordered_json(row.bounds->lowest_s) : ordered_json(nullptr)},
            {"share", row.bounds ? ordered_json(row.lowest_s() / phase_s) : ordered_json(nullptr)},
            {"achieved_s", nullable(row.achieved_s)}};
  }

  const Operation& matmul_;
  const Transformer& whole_;
  Transformer model_;  // of one rank
  const TransformerQuestion& question_;
  const Roofs& roofs_;
  const AchievedTime& achieved_;
  Format cache_format_;
  WeightFormats weights_;
  std::optional<StoredFormat> cache_;  // empty: that of the products
};

}  // namespace

ordered_json predict_transformer(const Operation& matmul, const Transformer& model,
                                 const TransformerQuestion& question, const Roofs& roofs,
                                 const AchievedTime& achieved) {
  return Predictor(matmul, model, question, roofs, achieved).answer();
}

}  // namespace ridgebench
