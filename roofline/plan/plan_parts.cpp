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

nlohmann::ordered_json term(std::string_view name, double value, std::string_view unit) {
  return {{"name", name}, {"value", value}, {"unit", unit}};
}

void set_if(nlohmann::ordered_json& object, const char* key, std::optional<double> value) {
  if (value) object[key] = *value;
}

std::optional<Capacity> capacity_of(const Roofs* device, double count) {
  if (device == nullptr) return std::nullopt;
  const auto bytes = device->memory_bytes();
  if (!bytes) throw UsageError(fmt::format("{}: the memory size is unknown", device->name()));
  return Capacity{fmt::format("memory of {:g} x {}", count, device->name()), *bytes * count};
}

void add_fits(nlohmann::ordered_json& answer, const Capacity& capacity) {
  answer["fits"] = answer["bytes"].get<double>() <= capacity.bytes;
  answer["terms"].push_back(term(capacity.name, capacity.bytes, "byte"));
}

}  // namespace ridgebench
