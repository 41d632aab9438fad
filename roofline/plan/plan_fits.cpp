#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/nullable.hpp"
#include "roofline/plan/network.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"
#include "roofline/plan/step_memory.hpp"

namespace ridgebench {
namespace {

constexpr double kMostRanks = 1 << 20;

double parameters_of(const FitsQuestion& question) {
  if (question.state.parameters) return whole_parameters(*question.state.parameters);
  if (question.activations.model) return parameters(*question.activations.model);
  throw UsageError(
      "plan fits: the parameters are missing; allowed: --parameters with --layers and --width, "
      "or --model CONFIG");
}

constexpr const char* kActivations = "activations";
constexpr const char* kTemporaries = "gradients of outputs, temporaries";
constexpr double kMostBands = 1000;  // layers of a timeline

struct Part {
  std::string name;
  char letter;
  double bytes;
  double ranks;  // that share it
};

// Plain layers have the gradient of a layer's weights among their temporaries: one that the host
// holds, or that ranks shard, is a temporary until it has gone there.
ActivationQuestion activations_of(const FitsQuestion& question) {
  ActivationQuestion activations = question.activations;
  activations.adds_gradients =
      offloads(question.state) || Sharding{question.stage, question.ranks}.scatters_gradients();
  return activations;
}

// Memory of one device. The question is checked.
std::vector<Part> parts_of(const FitsQuestion& question) {
  const Sharding sharding{question.stage, question.ranks};
  const double parameters = parameters_of(question);
  const std::vector<StatePart> state = state_parts(question.state);
  std::vector<Part> parts;
  for (const StatePart& part : state) {
    if (part.on_host) continue;
    const double ranks = sharding.of(part);
    parts.push_back({part.name, part.letter, part.bytes * parameters / ranks, ranks});
  }
  const ActivationQuestion activations = activations_of(question);
  const double width = activations.width.value_or(0);
  const double largest =
      activations.model ? parameters_of_largest_layer(*activations.model) : width * width;
  for (const LayerBuffer& buffer : layer_buffers(state, sharding)) {
    if (buffer.letter == 'G' && !activations.model) continue;
    parts.push_back({buffer.name, buffer.letter, buffer.bytes * largest, 1});
  }
  if (activations.model) {
    const NetworkBytes network = network_bytes(activations, micro_batch_rows(activations));
    parts.push_back({kActivations, 'A', kept_bytes(network, activations.checkpoint).bytes, 1});
  } else {
    const StepMemory step = step_memory(activations);
    parts.push_back({kActivations, 'A', step.activation_bytes(), 1});
    parts.push_back({kTemporaries, 'T', step.temporary_bytes(), 1});
  }
  return parts;
}

double sum_of(const std::vector<Part>& parts) {
  double sum = 0;
  for (const Part& part : parts) sum += part.bytes;
  return sum;
}
double sum_of(const FitsQuestion& question) { return sum_of(parts_of(question)); }

// Returns the smallest whole number from `low` to `high` for which the question fits, if a larger
// number never needs more; empty if even `high` does not fit.
std::optional<double> least_that_fits(double low, double high,
                                      const std::function<bool(double)>& fits) {
  if (low > high || !fits(high)) return std::nullopt;
  while (low < high) {
    const double middle = std::floor((low + high) / 2);
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// Finds what makes a question fit that does not.
class Changes {
 public:
  Changes(const FitsQuestion& question, double memory) : question_(question), memory_(memory) {}

  // Each change alone, with the least that helps of each; then all of them together.
  [[nodiscard]] PlanAnswer found() {
    try_stage();
    try_checkpoint();
    try_micro_batches();
    try_more_ranks();
    if (found_.empty()) try_all();
    return found_;
  }

 private:
  [[nodiscard]] bool fits(const FitsQuestion& question) const {
    return sum_of(question) <= memory_;
  }
  void add(const std::string& change, const FitsQuestion& changed) {
    found_.push_back({{"change", change}, {"bytes", sum_of(changed)}});
  }

  void try_stage() {
    if (question_.ranks == 1) return;
    for (const double stage : kStages) {
      if (stage <= question_.stage) continue;
      FitsQuestion changed = question_;
      changed.stage = stage;
      if (!fits(changed)) continue;
      add(fmt::format("--stage {:g}", stage), changed);
      return;
    }
  }

  void try_checkpoint() {
    for (const std::string_view way : kCheckpoints) {
      FitsQuestion changed = question_;
      changed.activations.checkpoint = way;
      if (!fits(changed)) continue;
      add(fmt::format("--checkpoint {}", way), changed);
      return;
    }
  }

  void try_micro_batches() {
    FitsQuestion changed = question_;
    double& parts = changed.activations.micro_batches;
    const auto least = least_that_fits(parts, changed.activations.batch, [&](double count) {
      parts = count;
      return fits(changed);
    });
    if (!least) return;
    parts = *least;
    add(fmt::format("--micro-batches {:.0f}", parts), changed);
  }

  // The lowest stage that serves with more ranks. Each further rank brings a batch of its own.
  void try_more_ranks() {
    for (const double stage : kStages) {
      if (stage < std::max(question_.stage, 1.0)) continue;
      FitsQuestion changed = question_;
      changed.stage = stage;
      if (!take_ranks(changed)) continue;
      const bool more = changed.ranks > question_.ranks;  // else try_stage has found it
      if (more) add(fmt::format("--stage {:g} --ranks {:.0f}", stage, changed.ranks), changed);
      return;
    }
  }

  // Sets the least number of ranks that serves; false if none does.
  [[nodiscard]] bool take_ranks(FitsQuestion& changed) const {
    const auto least = least_that_fits(changed.ranks, kMostRanks, [&](double count) {
      changed.ranks = count;
      return fits(changed);
    });
    changed.ranks = least.value_or(changed.ranks);
    return least.has_value();
  }

  void try_all() {
    FitsQuestion changed = question_;
    changed.stage = kLastStage;
    changed.activations.micro_batches = changed.activations.batch;
    double least = INFINITY;
    for (const std::string_view way : kCheckpoints) {
      FitsQuestion one = changed;
      one.activations.checkpoint = way;
      if (sum_of(one) < least) {
        least = sum_of(one);
        changed = one;
      }
    }
    if (!take_ranks(changed)) return;
    add(fmt::format("--stage {:g} --micro-batches {:.0f} --checkpoint {} --ranks {:.0f}",
                    kLastStage, changed.activations.micro_batches, changed.activations.checkpoint,
                    changed.ranks),
        changed);
  }

  const FitsQuestion& question_;
  double memory_;
  PlanAnswer found_ = PlanAnswer::array();
};

PlanAnswer fits_inputs(const FitsQuestion& question, const Roofs& device) {
  PlanAnswer inputs{{"precision", question.state.precision},
                    {"optimizer", question.state.optimizer}};
  set_if(inputs, "adapters", question.state.adapters);
  set_if(inputs, "parameters", question.state.parameters);
  inputs.update({{"stage", question.stage}, {"ranks", question.ranks}});
  inputs.update(activation_inputs(question.activations));
  if (question.link) inputs["link"] = question.link->name;
  inputs["device"] = device.name();
  return inputs;
}

// The terms of a plain network's step.
PlanAnswer step_terms(const ActivationQuestion& question) {
  const StepMemory step = step_memory(question);
  PlanAnswer terms{term("rows of the largest micro-batch", micro_batch_rows(question), "1"),
                   term("one layer's output, rows x width", step.u, "byte"),
                   term("input and labels of the batch", step.batch_bytes, "byte"),
                   term("outputs alive at the peak", step.outputs, "1"),
                   term("gradients of outputs alive at the peak", step.gradients, "1")};
  if (step.weight_bytes > 0) {
    terms.push_back(term("temporary gradient of one layer's weights", step.weight_bytes, "byte"));
  }
  if (step.segment > 0) {
    terms.push_back(term("segments between checkpoints", step.segments, "1"));
    terms.push_back(term("layers of a segment", step.segment, "1"));
  }
  terms.push_back(term("extra forward passes", step.extra_forwards, "1"));
  return terms;
}

PlanAnswer fits_terms(const ActivationQuestion& question) {
  if (!question.model) return step_terms(question);
  const NetworkBytes network = network_bytes(question, micro_batch_rows(question));
  return activation_terms(question, network, kept_bytes(network, question.checkpoint));
}

// Memory in each phase of the step: the state always, the rest of `parts` by the bands.
PlanAnswer timeline_of(const ActivationQuestion& question, const std::vector<Part>& parts) {
  const StepMemory step = step_memory(question);
  PlanAnswer timeline = PlanAnswer::array();
  for (const StepBand& band : step_bands(question)) {
    const bool after_loss = band.phase == StepPhase::loss || band.phase == StepPhase::backward;
    PlanAnswer live = PlanAnswer::object();
    double bytes = 0;
    for (const Part& part : parts) {
      double one = part.bytes;
      if (part.letter == kGathered) {
        one = band.layer > 0 ? part.bytes : 0;
      } else if (part.name == kActivations) {
        one = step.batch_bytes + band.outputs * step.u;
      } else if (part.name == kTemporaries) {
        one = band.gradients * step.u + (after_loss ? step.loss_bytes : 0) +
              (band.temporary_weight ? step.weight_bytes : 0);
      }
      live[part.name] = one;
      bytes += one;
    }
    timeline.push_back({{"phase", name(band.phase)},
                        {"layer", band.layer > 0 ? PlanAnswer(band.layer) : nullptr},
                        {"live", std::move(live)},
                        {"bytes", bytes}});
  }
  return timeline;
}

void check_timeline(const ActivationQuestion& question) {
  if (question.model) {
    throw UsageError("plan fits: --timeline shows plain layers; allowed: --layers with --width");
  }
  if (question.layers.value_or(0) > kMostBands) {
    throw UsageError(fmt::format("--layers is {:g}; allowed with --timeline: at most {:g}",
                                 question.layers.value_or(0), kMostBands));
  }
}

std::string fits_note(const FitsQuestion& question, const PlanAnswer& changes, bool fits) {
  std::string note =
      question.activations.model
          ? "per device; temporary buffers and the memory of the driver are not counted"
          : "per device, at the peak of a step; the memory of the driver is not counted";
  note = joined_notes({note, state_note(question.state), context_note(question.activations),
                       link_note(question.link, question.ranks)});
  if (!fits && changes.empty()) {
    note += fmt::format(
        "; nothing helps: it does not fit {:.0f} ranks in stage 3 with one row at a time",
        kMostRanks);
  }
  return note;
}

}  // namespace

PlanAnswer plan_fits(const FitsQuestion& asked, const Roofs& device) {
  FitsQuestion question = asked;
  const double parameters = parameters_of(question);
  question.activations = checked(asked.activations);
  const Sharding sharding = sharding_of(question.stage, question.ranks);
  const Capacity memory = capacity_of(&device, 1).value();
  if (question.timeline) check_timeline(question.activations);
  const std::vector<Part> parts = parts_of(question);
  const double bytes = sum_of(parts);
  PlanAnswer answer{
      {"plan", "fits"},
      {"inputs", fits_inputs(question, device)},
      {"parameters", parameters},
      {"bytes", bytes},
      {"parts", PlanAnswer::array()},
      {"memory_bytes", memory.bytes},
      {"usable_bytes", nullable(memory.usable_bytes)},
      {"fits", bytes <= memory.bytes},
      {"fits_usable", memory.usable_bytes ? PlanAnswer(bytes <= *memory.usable_bytes) : nullptr}};
  for (const Part& part : parts) {
    answer["parts"].push_back({{"name", part.name},
                               {"letter", std::string(1, part.letter)},
                               {"bytes", part.bytes},
                               {"ranks", part.ranks}});
  }
  const std::vector<StatePart> state = state_parts(question.state);
  const double micro_batches = question.activations.micro_batches;
  add_host(answer, state, sharding, parameters, micro_batches);
  if (question.ranks > 1) {
    add_communication(answer, sent_in_a_step(state, sharding, parameters, micro_batches),
                      question.link);
  }
  const bool fits = answer["fits"].get<bool>();
  answer["changes"] = fits ? PlanAnswer::array() : Changes(question, memory.bytes).found();
  answer["terms"] = fits_terms(activations_of(question));
  if (question.timeline) answer["timeline"] = timeline_of(activations_of(question), parts);
  answer["note"] = fits_note(question, answer["changes"], fits);
  return answer;
}

}  // namespace ridgebench
