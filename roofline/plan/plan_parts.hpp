// Checked inputs and terms of an answer, for all plans. The functions throw UsageError.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "roofline/roofs.hpp"

namespace ridgebench {

// Checks that a value is above 0 and at most 1e30, which keeps every product of a plan finite.
double positive(std::string_view option, double value);

// Checks that a value is a whole number from 1 to kLargestCount.
double whole(std::string_view option, double value);

nlohmann::ordered_json term(std::string_view name, double value, std::string_view unit);

void set_if(nlohmann::ordered_json& object, const char* key, std::optional<double> value);

// The memory of `count` devices.
struct Capacity {
  std::string name;
  double bytes;
};
// Returns an empty value without a device.
std::optional<Capacity> capacity_of(const Roofs* device, double count);

// Sets `fits` and adds the capacity to the terms. The answer must hold `bytes`.
void add_fits(nlohmann::ordered_json& answer, const Capacity& capacity);

}  // namespace ridgebench
