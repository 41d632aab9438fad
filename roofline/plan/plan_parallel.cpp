// One batch on several devices: ZeRO, tensor and pipeline parallelism side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/nullable.hpp"
#include "roofline/plan/collectives.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"

namespace ridgebench {
namespace {

// Memory and traffic of one rank in a step, and the share of the step in which it has no work.
struct Way {
  std::string name;
  double state;
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
            parameters_ * bytes_on_all_ranks(parts_, sharding) / question_.ranks, kept(own),
            sent_in_a_step(parts_, sharding, parameters_)};
  }

  // Every rank has some heads, and a part of each matrix and of each token's activations. The
  // forward and the backward pass of attention and of the network each sum up outputs on all ranks:
  // four times a layer, a reduce-scatter and an all-gather of tokens x width elements.
  [[nodiscard]] std::optional<Way> tensor() const {
    constexpr double kSums = 4;
    const double ranks = question_.ranks;
    const bool divides = std::ranges::all_of(model_.attentions, [&](const Attention& a) {
      return std::fmod(static_cast<double>(a.heads), ranks) == 0;
    });
    if (!divides) return std::nullopt;
    return Way{"tensor", all_state() / ranks, kept(question_.activations) / ranks,
               kSums * layers() * sent_by_a_rank("all-reduce", tensor_bytes(), ranks)};
  }

  // Every rank has some layers, and the one with the most of them decides. Of the micro-batches,
  // the first rank holds as many as there are ranks. Each rank sends its output to the next rank
  // and a gradient to the one before it.
  [[nodiscard]] std::optional<Way> pipeline() const {
    const double ranks = question_.ranks;
    if (ranks > layers()) return std::nullopt;
    const double share = std::ceil(layers() / ranks) / layers();
    const double parts = question_.activations.micro_batches;
    return Way{"pipeline", all_state() * share,
               kept(question_.activations) * share * std::min(parts, ranks),
               (ranks > 1 ? 2 : 0) * tensor_bytes(), (ranks - 1) / (parts + ranks - 1)};
  }

 private:
  [[nodiscard]] double layers() const { return static_cast<double>(model_.layers); }
  [[nodiscard]] double all_state() const { return parameters_ * bytes_on_all_ranks(parts_, {}); }
  // Activations of one micro-batch.
  [[nodiscard]] static double kept(const ActivationQuestion& q) {
    return kept_bytes(network_bytes(q, micro_batch_rows(q)), q.checkpoint).bytes;
  }
  // The output of a layer for the whole batch.
  [[nodiscard]] double tensor_bytes() const {
    const ActivationQuestion& q = question_.activations;
    return q.batch * q.context.value_or(0) * static_cast<double>(model_.width) *
           info(q.format).storage_bytes;
  }

  const ParallelQuestion& question_;
  const Transformer& model_;
  std::vector<StatePart> parts_;
  double parameters_;
};

PlanAnswer way_json(const Way& way, const std::optional<Link>& link,
                    const std::optional<Capacity>& memory) {
  const double bytes = way.state + way.activations;
  PlanAnswer row{{"way", way.name},
                 {"state_bytes", way.state},
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
  const auto tensor = ways.tensor();
  if (tensor) rows.push_back(way_json(*tensor, question.link, memory));
  const auto pipeline = ways.pipeline();
  if (pipeline) rows.push_back(way_json(*pipeline, question.link, memory));
  PlanAnswer inputs{{"precision", question.state.precision},
                    {"optimizer", question.state.optimizer},
                    {"ranks", question.ranks}};
  set_if(inputs, "adapters", question.state.adapters);
  inputs.update(activation_inputs(question.activations));
  if (question.link) inputs["link"] = question.link->name;
  if (device != nullptr) inputs["device"] = device->name();
  PlanAnswer terms{term("parameters", parameters(*question.activations.model), "1")};
  if (question.link) {
    terms.push_back(term("rate of the link, one direction", question.link->bytes_per_s, "byte/s"));
  }
  if (memory) terms.push_back(term(memory->name, memory->bytes, "byte"));
  return {
      {"plan", "parallel"},
      {"inputs", inputs},
      {"terms", terms},
      {"ways", rows},
      {"note", joined_notes({"bytes of a rank, and what it sends in a step; tensor parallelism "
                             "also divides norms and residuals (sequence parallelism)",
                             tensor ? "" : "tensor parallelism needs ranks that divide the heads",
                             pipeline ? "" : "a pipeline needs a layer for each rank",
                             state_note(question.state), context_note(question.activations)})}};
}

}  // namespace ridgebench
