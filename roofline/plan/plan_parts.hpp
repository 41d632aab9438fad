// What all plans share: checked inputs and the terms of an answer. All throw UsageError.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "roofline/roofs.hpp"

namespace ridgebench {

// A finite number above 0; the limit keeps every product of a plan finite.
double positive(std::string_view option, double value);

// The same and whole, up to 2^53 where doubles stop counting.
double whole(std::string_view option, double value);

nlohmann::ordered_json term(std::string_view name, double value, std::string_view unit);

// Sets a key only where there is a value.
void set_if(nlohmann::ordered_json& object, const char* key, std::optional<double> value);

// The memory of `count` devices; empty without a device.
struct Capacity {
  std::string name;
  double bytes;
};
std::optional<Capacity> capacity_of(const Roofs* device, double count);

// Sets `fits` and adds the capacity to the terms of an answer whose `bytes` are known.
void add_fits(nlohmann::ordered_json& answer, const Capacity& capacity);

}  // namespace ridgebench
