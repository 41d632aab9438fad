// The table of families, roofline/families: for each model_type its keys of a config.json, its
// defaults and its peculiarities. docs/models.md describes the format of the files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

struct Family {
  std::string name;      // the model_type
  nlohmann::json data;   // with what it takes from the family in its `like`
  nlohmann::json sizes;  // that a file may leave out (roofline/families/defaults.json)
};

// Null if the table lacks the type.
const Family* find_family(std::string_view type);

// Returns the nearest type that is counted; empty if none is near.
std::string_view nearest_family(std::string_view type);

// The types that are counted, sorted.
std::vector<std::string_view> counted_families();

// Keys that all families share: `keys`, `ignored`, `refused`, and those that are ignored with one
// value: `ignored_with`.
const nlohmann::json& common_keys();

// True if a text fits a pattern, in which * is any number of any characters.
bool fits_pattern(std::string_view text, std::string_view pattern);

}  // namespace ridgebench
