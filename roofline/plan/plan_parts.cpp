#include "roofline/plan/plan_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {

double positive(std::string_view option, double value) {
  constexpr double kLargest = 1e30;
  const bool sensible = value >= 1 / kLargest && value <= kLargest;  // false for NaN
  if (!sensible) {
    throw UsageError(fmt::format("{} is {:g}; allowed: a number above 0, from {:g} to {:g}", option,
                                 value, 1 / kLargest, kLargest));
  }
  return value;
}

double whole(std::string_view option, double value) {
  const bool sensible = value >= 1 && value <= kLargestCount && value == std::floor(value);
  if (!sensible) {
    throw UsageError(
        fmt::format("{} is {:g}; allowed: a whole number from 1 to 2^53", option, value));
  }
  return value;
}

double whole_parameters(double value) {
  if (positive("--parameters", value) == std::floor(value)) return value;
  throw UsageError(
      fmt::format("--parameters is {:g}; allowed: a whole number from 1 to 1e30", value));
}

double finite(std::string_view result, double value) {
  if (std::isfinite(value)) return value;
  throw UsageError(
      fmt::format("the {} exceeds every number; allowed: values with a finite result", result));
}

nlohmann::ordered_json term(std::string_view name, double value, std::string_view unit) {
  return {{"name", name}, {"value", value}, {"unit", unit}};
}

void set_if(nlohmann::ordered_json& object, const char* key, std::optional<double> value) {
  if (value) object[key] = *value;
}

nlohmann::ordered_json state_terms(const std::vector<StatePart>& parts, const Sharding& sharding,
                                   double parameters) {
  nlohmann::ordered_json terms = nlohmann::ordered_json::array();
  for (const StatePart& part : parts) {
    const double ranks = sharding.of(part);
    const std::string name =
        ranks > 1 ? fmt::format("{} / {:g} ranks", part.name, ranks) : part.name;
    terms.push_back(term(name, part.bytes * parameters / ranks, "byte"));
  }
  return terms;
}

double parameters_of_largest_layer(const Transformer& model) {
  double most = 0;
  for (const Linear& linear : linear_layers(model)) {
    most = std::max(most, linear.parameters() / static_cast<double>(linear.layers));
  }
  return most;
}

void add_host(nlohmann::ordered_json& answer, const std::vector<StatePart>& parts,
              const Sharding& sharding, double parameters, double micro_batches) {
  const double bytes = host_bytes(parts, sharding);
  if (bytes == 0) return;
  answer["host_bytes"] = bytes * parameters;
  answer["host_link_bytes"] = host_link_bytes(parts, sharding, micro_batches) * parameters;
}

bool given_by_size(const WorkQuestion& question) {
  return question.parameters || question.model.given() || question.tokens;
}

bool given_in_full(const WorkQuestion& question) {
  const bool sized = question.parameters.has_value() != question.model.given();
  const bool none = !question.parameters && !question.model.given();
  return question.flops ? none && !question.tokens : sized && question.tokens;
}

nlohmann::ordered_json work_inputs(const WorkQuestion& question) {
  nlohmann::ordered_json inputs = nlohmann::ordered_json::object();
  if (question.model.given()) inputs["model"] = question.model.name;
  set_if(inputs, "parameters", question.parameters);
  set_if(inputs, "tokens", question.tokens);
  set_if(inputs, "flops", question.flops);
  return inputs;
}

std::optional<double> updated_parameters(const WorkQuestion& question) {
  return question.model.given() ? question.model.parameters : question.parameters;
}

double peak_of_device(std::optional<double> peak, const Roofs* device, FormatPair format,
                      nlohmann::ordered_json& inputs) {
  if (device != nullptr) inputs["device"] = device->name();
  if (peak) {
    inputs["peak_from"] = "as given";
    return positive("--peak", *peak);
  }
  const Rate found = device->mfu_peak(format);
  inputs["format"] = format.name();
  inputs["peak_from"] = found.origin;
  return found.per_s;
}

void add_communication(nlohmann::ordered_json& answer, double sent_bytes,
                       const std::optional<Link>& link) {
  answer["communication_bytes"] = sent_bytes;
  if (link) answer["link_time_s"] = finite("time", sent_bytes / link->bytes_per_s);
}

std::string link_note(const std::optional<Link>& link, double ranks) {
  if (!link) return "";
  return ranks == 1 ? "one rank sends nothing, and the link is not used" : link->remark;
}

std::string joined_notes(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    if (!note.empty()) text += (text.empty() ? "" : "; ") + note;
  }
  return text;
}

// FLOPs per parameter and token. The forward pass multiplies and adds. The backward pass does so
// for the gradients of the inputs, and once more for the gradients of weights that are not frozen.
std::optional<double> training_flops(const WorkQuestion& question, nlohmann::ordered_json& terms) {
  constexpr double kForwardFlops = 2;
  constexpr double kFrozenFlops = 2;
  constexpr double kBackwardFlops = 4;
  constexpr double kTrainedFlops = kForwardFlops + kBackwardFlops;
  if (question.parameters) whole_parameters(*question.parameters);
  if (question.tokens) positive("--tokens", *question.tokens);
  if (question.flops) positive("--flops", *question.flops);
  if (!given_by_size(question) || !question.tokens) return question.flops;
  double met = question.parameters.value_or(0);
  if (question.model.given()) {
    met = question.model.active;
    terms.push_back(term("parameters of the model", question.model.parameters, "1"));
    terms.push_back(term("parameters that a token meets", met, "1"));
  }
  const double product = met * *question.tokens;
  terms.push_back(term("forward, 2 x parameters x tokens", kForwardFlops * product, "FLOP"));
  if (question.adapters) {
    const double adapted = *question.adapters * product;
    terms.push_back(term("backward, 2 x parameters x tokens", kFrozenFlops * product, "FLOP"));
    terms.push_back(term("6 x parameters of adapters x tokens", kTrainedFlops * adapted, "FLOP"));
    return (kForwardFlops + kFrozenFlops) * product + kTrainedFlops * adapted;
  }
  terms.push_back(term("backward, 4 x parameters x tokens", kBackwardFlops * product, "FLOP"));
  return kTrainedFlops * product;
}

std::optional<Capacity> capacity_of(const Roofs* device, double count) {
  if (device == nullptr) return std::nullopt;
  const auto bytes = device->memory_bytes();
  if (!bytes) throw UsageError(fmt::format("{}: the memory size is unknown", device->name()));
  Capacity capacity{fmt::format("memory of {:g} x {}", count, device->name()), *bytes * count};
  if (const auto usable = device->usable_memory_bytes()) capacity.usable_bytes = *usable * count;
  return capacity;
}

void add_fits(nlohmann::ordered_json& answer, const Capacity& capacity) {
  const double bytes = answer["bytes"].get<double>();
  set_if(answer, "usable_bytes", capacity.usable_bytes);
  answer["fits"] = bytes <= capacity.bytes;
  if (capacity.usable_bytes) answer["fits_usable"] = bytes <= *capacity.usable_bytes;
  answer["terms"].push_back(term(capacity.name, capacity.bytes, "byte"));
}

}  // namespace ridgebench
