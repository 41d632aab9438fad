// plan_memory counts the whole state, and plan_zero counts the shard of one rank.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"
#include "roofline/plan/state.hpp"

namespace ridgebench {
namespace {

// Returns the largest model that fits. Products of up to 2^64, more than any cluster has, are exact
// in a long double, and the comparison corrects a quotient that was rounded across a whole number.
double most_that_fit(double capacity, double bytes, double ranks) {
  const long double room = static_cast<long double>(capacity) * ranks;
  const auto most = std::floor(static_cast<double>(room / bytes));
  return static_cast<long double>(most) * bytes <= room ? most : most - 1;
}

// Adds the bytes of the given model, or the largest model that fits the capacity.
void complete(PlanAnswer& answer, const StateQuestion& question, const Sharding& sharding,
              const std::optional<Capacity>& capacity) {
  const std::vector<StatePart> all = state_parts(question);
  const double on_all_ranks = bytes_on_all_ranks(all, sharding);
  if (!question.parameters && !capacity) {
    throw UsageError("plan: give --parameters, or --on DEVICE for the largest model, or both");
  }
  const double parameters = question.parameters
                                ? whole_parameters(*question.parameters)
                                : most_that_fit(capacity->bytes, on_all_ranks, sharding.ranks);
  answer["parameters"] = parameters;
  answer["bytes"] = on_all_ranks * parameters / sharding.ranks;
  answer["bytes_per_parameter"] = on_all_ranks / sharding.ranks;
  answer["terms"] = state_terms(all, sharding, parameters);
  add_host(answer, all, sharding, parameters);
  if (capacity) add_fits(answer, *capacity);
}

void add_note(PlanAnswer& answer, const std::string& note, const StateQuestion& question) {
  answer["note"] = joined_notes({note, state_note(question)});
}

// Says which plans count what the answer leaves out of whole layers: it has parameters, and no
// layers.
std::string zero_note(const StateQuestion& question, std::optional<double> stage, double ranks) {
  std::vector<std::string> buffers;
  for (const LayerBuffer& one :
       layer_buffers(state_parts(question), {stage.value_or(kLastStage), ranks})) {
    const bool always = stage || one.from_stage == 0;
    buffers.push_back(fmt::format(
        "the {}{}", one.name, always ? "" : fmt::format(" (from stage {:g} on)", one.from_stage)));
  }
  if (buffers.empty()) return "";
  return fmt::format("plan fits and plan parallel also count {}", fmt::join(buffers, " and "));
}

PlanAnswer echo(const char* plan, const StateQuestion& question) {
  PlanAnswer inputs{{"precision", question.precision}, {"optimizer", question.optimizer}};
  set_if(inputs, "adapters", question.adapters);
  set_if(inputs, "parameters", question.parameters);
  return {{"plan", plan}, {"inputs", inputs}};
}

// One stage of ZeRO: the bytes of a rank and what it sends.
PlanAnswer stage_answer(const StateQuestion& question, const Sharding& sharding,
                        const std::optional<Capacity>& capacity, const std::optional<Link>& link) {
  PlanAnswer answer = PlanAnswer::object();
  complete(answer, question, sharding, capacity);
  const auto parameters = answer["parameters"].get<double>();
  add_communication(answer, sent_in_a_step(state_parts(question), sharding, parameters), link);
  return answer;
}

}  // namespace

PlanAnswer plan_memory(const StateQuestion& question, std::optional<double> gpus,
                       const Roofs* device) {
  if (gpus && device == nullptr) throw UsageError("plan memory: --gpus needs --on DEVICE");
  const double count = whole("--gpus", gpus.value_or(1));
  PlanAnswer answer = echo("memory", question);
  if (device != nullptr) {
    answer["inputs"]["gpus"] = count;
    answer["inputs"]["device"] = device->name();
  }
  complete(answer, question, {}, capacity_of(device, count));
  add_note(answer, "activations are not counted", question);
  return answer;
}

PlanAnswer plan_zero(const StateQuestion& question, std::optional<double> stage, double ranks,
                     const Roofs* device, const std::optional<Link>& link) {
  const Sharding sharding = sharding_of(stage.value_or(0), ranks);
  PlanAnswer answer = echo("zero", question);
  set_if(answer["inputs"], "stage", stage);
  answer["inputs"]["ranks"] = ranks;
  if (link) answer["inputs"]["link"] = link->name;
  if (device != nullptr) answer["inputs"]["device"] = device->name();
  const auto capacity = capacity_of(device, 1);
  if (stage) {
    answer.update(stage_answer(question, sharding, capacity, link));
  } else {
    answer["terms"] = PlanAnswer::array();
    for (const StatePart& part : state_parts(question)) {
      answer["terms"].push_back(term(part.name + ", for a parameter", part.bytes, "byte"));
    }
    answer["stages"] = PlanAnswer::array();
    for (const double one : kStages) {
      PlanAnswer row{{"stage", one}};
      row.update(stage_answer(question, {one, ranks}, capacity, link));
      answer["stages"].push_back(std::move(row));
    }
  }
  if (link) {
    answer["terms"].push_back(term("rate of the link, one direction", link->bytes_per_s, "byte/s"));
  }
  answer["note"] = joined_notes(
      {"per rank, in a step of one micro-batch; activations are not counted", state_note(question),
       zero_note(question, stage, ranks), link_note(link, ranks)});
  return answer;
}

}  // namespace ridgebench
