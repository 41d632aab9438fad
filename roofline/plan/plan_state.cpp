// The training state is parameters, gradients and optimizer states. plan_memory counts the whole
// state, and plan_zero counts the shard of one rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"
#include "roofline/plan/plan.hpp"
#include "roofline/plan/plan_parts.hpp"

namespace ridgebench {
namespace {

constexpr double kStateBytes = 4;  // optimizer states and master copies are fp32

struct Precision {
  std::string_view name;
  double parameter_bytes;  // of a parameter, and of its gradient
  bool master_copy;
};
constexpr std::array kPrecisions{Precision{"bf16", 2, false}, Precision{"fp32", 4, false},
                                 Precision{"bf16-master", 2, true}};

// Number of fp32 states per parameter.
struct Optimizer {
  std::string_view name;
  int states;
  bool trains = true;
};
constexpr std::array kOptimizers{Optimizer{"none", 0, false}, Optimizer{"sgd", 0},
                                 Optimizer{"momentum", 1},    Optimizer{"adagrad", 1},
                                 Optimizer{"rmsprop", 1},     Optimizer{"adam", 2},
                                 Optimizer{"adamw", 2}};

// One part of the state: its bytes per parameter, and the first ZeRO stage that shards it.
struct Part {
  std::string name;
  double bytes;
  int sharded_from;
};

template <class Entry>
const Entry& choose(std::string_view option, std::string_view name, std::span<const Entry> table) {
  const auto found = std::ranges::find(table, name, &Entry::name);
  if (found != table.end()) return *found;
  std::string allowed;
  for (const Entry& entry : table) {
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", entry.name);
  }
  throw UsageError(fmt::format("{} is '{}'; allowed: {}", option, name, allowed));
}

std::vector<Part> parts(const StateQuestion& question) {
  const auto& precision = choose<Precision>("--precision", question.precision, kPrecisions);
  const auto& optimizer = choose<Optimizer>("--optimizer", question.optimizer, kOptimizers);
  std::vector<Part> parts{{"parameters", precision.parameter_bytes, 3}};
  if (!optimizer.trains) return parts;
  parts.push_back({"gradients", precision.parameter_bytes, 2});
  if (precision.master_copy) parts.push_back({"fp32 master copy", kStateBytes, 1});
  if (optimizer.states > 0) {
    parts.push_back({fmt::format("{} states", optimizer.name), kStateBytes * optimizer.states, 1});
  }
  return parts;
}

// Adds the bytes of the given model, or the largest model that fits the capacity.
void complete(PlanAnswer& answer, const StateQuestion& question, const std::vector<Part>& parts,
              const std::optional<Capacity>& capacity) {
  double bytes_per_parameter = 0;
  for (const Part& part : parts) bytes_per_parameter += part.bytes;
  if (!question.parameters && !capacity) {
    throw UsageError("plan: give --parameters, or --on DEVICE for the largest model, or both");
  }
  const double parameters = question.parameters ? positive("--parameters", *question.parameters)
                                                : std::floor(capacity->bytes / bytes_per_parameter);
  PlanAnswer terms = PlanAnswer::array();
  for (const Part& part : parts) {
    terms.push_back(term(part.name, part.bytes * parameters, "byte"));
  }
  answer["parameters"] = parameters;
  answer["bytes"] = bytes_per_parameter * parameters;
  answer["bytes_per_parameter"] = bytes_per_parameter;
  answer["terms"] = terms;
  if (capacity) add_fits(answer, *capacity);
  answer["note"] = "activations are not counted";
}

PlanAnswer echo(const char* plan, const StateQuestion& question) {
  PlanAnswer inputs{{"precision", question.precision}, {"optimizer", question.optimizer}};
  set_if(inputs, "parameters", question.parameters);
  return {{"plan", plan}, {"inputs", inputs}};
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
  complete(answer, question, parts(question), capacity_of(device, count));
  return answer;
}

PlanAnswer plan_zero(const StateQuestion& question, double stage, double ranks,
                     const Roofs* device) {
  if (stage != 1 && stage != 2 && stage != 3) {
    throw UsageError(fmt::format("--stage is {:g}; allowed: 1, 2, 3", stage));
  }
  whole("--ranks", ranks);
  PlanAnswer answer = echo("zero", question);
  answer["inputs"]["stage"] = stage;
  answer["inputs"]["ranks"] = ranks;
  if (device != nullptr) answer["inputs"]["device"] = device->name();
  std::vector<Part> sharded = parts(question);
  for (Part& part : sharded) {
    if (stage < part.sharded_from) continue;
    part.name += fmt::format(" / {:g} ranks", ranks);
    part.bytes /= ranks;
  }
  complete(answer, question, sharded, capacity_of(device, 1));
  answer["note"] = "per rank; activations are not counted";
  return answer;
}

}  // namespace ridgebench
