#include "roofline/plan/plan_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/common/error.hpp"
#include "kernels/common/number.hpp"

namespace ridgebench {

double positive(std::string_view option, double value) {
  constexpr double kLargest = 1e30;
  const bool sensible = value > 0 && value <= kLargest;  // false for NaN
  if (!sensible) {
    throw UsageError(fmt::format("{} is {:g}; allowed: a number above 0, at most {:g}", option,
                                 value, kLargest));
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

// FLOPs per parameter and token. The forward pass multiplies and adds. The backward pass does so
// for the gradients of the inputs and for those of the weights.
std::optional<double> training_flops(const WorkQuestion& question, nlohmann::ordered_json& terms) {
  constexpr double kForwardFlops = 2;
  constexpr double kBackwardFlops = 4;
  if (question.parameters) whole_parameters(*question.parameters);
  if (question.tokens) positive("--tokens", *question.tokens);
  if (question.flops) positive("--flops", *question.flops);
  if (!question.parameters || !question.tokens) return question.flops;
  const double product = *question.parameters * *question.tokens;
  terms.push_back(term("forward, 2 x parameters x tokens", kForwardFlops * product, "FLOP"));
  terms.push_back(term("backward, 4 x parameters x tokens", kBackwardFlops * product, "FLOP"));
  return (kForwardFlops + kBackwardFlops) * product;
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
