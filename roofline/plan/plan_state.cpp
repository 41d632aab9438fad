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

// The ranks that share the parts which a ZeRO stage shards.
struct Sharding {
  double stage = 0;
  double ranks = 1;

  [[nodiscard]] double of(const Part& part) const { return stage >= part.sharded_from ? ranks : 1; }
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

// Returns the bytes of a parameter times the ranks, a whole number: 4.8 byte on 5 ranks is not
// exact.
double bytes_on_all_ranks(const std::vector<Part>& parts, const Sharding& sharding) {
  double bytes = 0;
  for (const Part& part : parts) bytes += part.bytes * (sharding.ranks / sharding.of(part));
  return bytes;
}

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
  const std::vector<Part> all = parts(question);
  const double on_all_ranks = bytes_on_all_ranks(all, sharding);
  if (!question.parameters && !capacity) {
    throw UsageError("plan: give --parameters, or --on DEVICE for the largest model, or both");
  }
  const double parameters = question.parameters
                                ? positive("--parameters", *question.parameters)
                                : most_that_fit(capacity->bytes, on_all_ranks, sharding.ranks);
  PlanAnswer terms = PlanAnswer::array();
  for (const Part& part : all) {
    const double ranks = sharding.of(part);
    const std::string name =
        ranks > 1 ? fmt::format("{} / {:g} ranks", part.name, ranks) : part.name;
    terms.push_back(term(name, part.bytes * parameters / ranks, "byte"));
  }
  answer["parameters"] = parameters;
  answer["bytes"] = on_all_ranks * parameters / sharding.ranks;
  answer["bytes_per_parameter"] = on_all_ranks / sharding.ranks;
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
  complete(answer, question, {}, capacity_of(device, count));
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
  complete(answer, question, {stage, ranks}, capacity_of(device, 1));
  answer["note"] = "per rank; activations are not counted";
  return answer;
}

}  // namespace ridgebench
