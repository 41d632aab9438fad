// One batch on several devices: ZeRO, tensor and pipeline parallelism side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/nullable.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"
#include "roofline/transformer/tensor_parallel.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// Memory and traffic of one rank in a step, and the share of the step in which it has no work.
struct Way {
  std::string name;
  double state;
  double buffers;  // of whole layers
  double activations;
  double sent;
  std::optional<double> idle = std::nullopt;
};

class Ways {
 public:
  explicit Ways(const ParallelQuestion& question)
      : question_(question),
        model_(*question.activations.model),
        parts_(state_parts(question.state)),
        parameters_(ridgebench::parameters(model_)) {}

  // Each rank has a part of the batch.
  [[nodiscard]] Way zero(double stage) const {
    const Sharding sharding{stage, question_.ranks};
    ActivationQuestion own = question_.activations;
    own.batch = std::ceil(own.batch / question_.ranks);
    own.micro_batches = std::min(own.micro_batches, own.batch);
    return {fmt::format("ZeRO stage {:g}", stage),
            parameters_ * bytes_on_all_ranks(parts_, sharding) / question_.ranks,
            buffers_of(model_, sharding), kept(own),
            sent_in_a_step(parts_, sharding, parameters_, own.micro_batches)};
  }

  // Every rank has some heads, and a part of each matrix and of each token's activations.
  // Throws UsageError for ranks that cannot share the model.
  [[nodiscard]] Way tensor() const {
    const Transformer shard = shard_of(model_, ranks(), "--ranks");
    return {"tensor", state_of(ridgebench::parameters(shard)), buffers_of(shard, {}),
            kept(question_.activations) / question_.ranks, sent_bytes(exchanges(), ranks())};
  }

  // The collectives of tensor parallelism in a step.
  [[nodiscard]] std::vector<Exchange> exchanges() const {
    const ActivationQuestion& q = question_.activations;
    return exchanges_of_training(model_, tokens(), info(q.format).storage_bytes);
  }
  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(question_.ranks); }

  // Every rank has some layers, the first one the embedding, too, and the last one the head and its
  // logits; the larger of these two decides. Of the micro-batches, the first rank holds as many as
  // there are ranks, and the last one holds one. The first rank sends outputs to the next one, the
  // last rank gradients to the one before it, and a rank between others sends both: that is the
  // traffic of the row.
  [[nodiscard]] std::optional<Way> pipeline() const {
    const double ranks = question_.ranks;
    if (ranks > layers()) return std::nullopt;
    const double parts = question_.activations.micro_batches;
    Way way = ranks == 1 ? Way{"pipeline", state_of(parameters_), buffers_of(model_, {}),
                               kept(question_.activations), 0}
                         : largest_stage();
    way.idle = (ranks - 1) / (parts + ranks - 1);
    return way;
  }

 private:
  [[nodiscard]] double layers() const { return static_cast<double>(model_.layers); }
  [[nodiscard]] double state_of(double parameters) const {
    return parameters * bytes_on_all_ranks(parts_, {});
  }

  // The first or the last stage of a pipeline of several.
  [[nodiscard]] Way largest_stage() const {
    const ActivationQuestion& q = question_.activations;
    const double share = std::ceil(layers() / question_.ranks) / layers();
    const double table =
        linear_layers(model_).back().parameters();  // of the embedding, and of the head
    const double positions = static_cast<double>(model_.positions * model_.width);
    const double inside = parameters_ - (model_.tied ? 1 : 2) * table - positions;
    NetworkBytes network = network_bytes(q, micro_batch_rows(q));
    const double head = std::exchange(network.head, 0);
    const double kept = kept_bytes(network, q.checkpoint).bytes * share;
    const Way first{"pipeline", state_of(inside * share + table + positions),
                    buffers_of(model_, {}), kept * std::min(q.micro_batches, question_.ranks),
                    (question_.ranks > 2 ? 2 : 1) * tensor_bytes()};
    const Way last{"pipeline", state_of(inside * share + table), first.buffers, kept + head,
                   first.sent};
    return first.state + first.activations < last.state + last.activations ? last : first;
  }

  // Activations of one micro-batch.
  [[nodiscard]] static double kept(const ActivationQuestion& q) {
    return kept_bytes(network_bytes(q, micro_batch_rows(q)), q.checkpoint).bytes;
  }
  // The bytes of the largest layer that a device holds for a while.
  [[nodiscard]] double buffers_of(const Transformer& model, const Sharding& sharding) const {
    double bytes = 0;
    for (const LayerBuffer& buffer : layer_buffers(parts_, sharding)) {
      bytes += buffer.bytes * parameters_of_largest_layer(model);
    }
    return bytes;
  }
  [[nodiscard]] double tokens() const {
    return question_.activations.batch * question_.activations.context.value_or(0);
  }
  // The output of a layer for the whole batch.
  [[nodiscard]] double tensor_bytes() const {
    return tokens() * static_cast<double>(model_.width) *
           info(question_.activations.format).storage_bytes;
  }

  const ParallelQuestion& question_;
  const Transformer& model_;
  std::vector<StatePart> parts_;
  double parameters_;
};

PlanAnswer way_json(const Way& way, const std::optional<Link>& link,
                    const std::optional<Capacity>& memory) {
  const double bytes = way.state + way.buffers + way.activations;
  PlanAnswer row{{"way", way.name},
                 {"state_bytes", way.state},
                 {"layer_bytes", way.buffers},
                 {"activation_bytes", way.activations},
                 {"bytes", bytes},
                 {"communication_bytes", way.sent},
                 {"link_time_s", nullptr},
                 {"idle_share", nullable(way.idle)},
                 {"fits", nullptr}};
  if (link) row["link_time_s"] = finite("time", way.sent / link->bytes_per_s);
  if (memory) row["fits"] = bytes <= memory->bytes;
  return row;
}

// The bytes that a rank of tensor parallelism sends in each kind of collective.
void add_exchanges(const Ways& ways, PlanAnswer& terms) {
  for (const Exchange& one : ways.exchanges()) {
    const std::string times = counted(static_cast<std::size_t>(one.times), one.collective);
    terms.push_back(
        term(fmt::format("tensor: {}, {}", times, one.what), one.sent_bytes(ways.ranks()), "byte"));
  }
}

}  // namespace

PlanAnswer plan_parallel(const ParallelQuestion& asked, const Roofs* device) {
  ParallelQuestion question = asked;
  if (!question.activations.model) {
    throw UsageError("plan parallel: the model is missing; allowed: --model CONFIG");
  }
  question.activations = checked(asked.activations);
  whole("--ranks", question.ranks);
  if (question.activations.batch < question.ranks) {
    throw UsageError(fmt::format(
        "--batch is {:g}; allowed: at least the ranks, {:g}, which share it in data parallelism",
        question.activations.batch, question.ranks));
  }
  const auto memory = capacity_of(device, 1);
  const Ways ways(question);
  PlanAnswer rows = PlanAnswer::array();
  for (const double stage : kStages) {
    rows.push_back(way_json(ways.zero(stage), question.link, memory));
  }
  PlanAnswer terms =
      PlanAnswer::array({term("parameters", parameters(*question.activations.model), "1")});
  std::string no_tensor;
  try {
    rows.push_back(way_json(ways.tensor(), question.link, memory));
    add_exchanges(ways, terms);
  } catch (const UsageError& reason) {
    no_tensor = fmt::format("no tensor parallelism: {}", reason.what());
  }
  const auto pipeline = ways.pipeline();
  if (pipeline) rows.push_back(way_json(*pipeline, question.link, memory));
  PlanAnswer inputs{{"precision", question.state.precision},
                    {"optimizer", question.state.optimizer},
                    {"ranks", question.ranks}};
  set_if(inputs, "adapters", question.state.adapters);
  inputs.update(activation_inputs(question.activations));
  if (question.link) inputs["link"] = question.link->name;
  if (device != nullptr) inputs["device"] = device->name();
  if (question.link) {
    terms.push_back(term("rate of the link, one direction", question.link->bytes_per_s, "byte/s"));
  }
  if (memory) terms.push_back(term(memory->name, memory->bytes, "byte"));
  return {
      {"plan", "parallel"},
      {"inputs", inputs},
      {"terms", terms},
      {"ways", rows},
      {"note", joined_notes({"bytes of a rank, and the bytes that it sends in a step; tensor "
                             "parallelism also divides norms and residuals (sequence parallelism)",
                             "a layer: the whole gradient of the largest one until it has been "
                             "summed, or has gone to the host, and its gathered parameters",
                             question.ranks > 2 && pipeline
                                 ? "the pipeline's row has the memory of its first or last rank, "
                                   "and the traffic of a rank between these"
                                 : "",
                             no_tensor, pipeline ? "" : "a pipeline needs a layer for each rank",
                             state_note(question.state), context_note(question.activations),
                             link_note(question.link, question.ranks)})}};
}

}  // namespace ridgebench
