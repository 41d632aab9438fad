// The part of a config.json that describes a language model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ridgebench {

// Parses a config.json. Infinity and NaN, which Python's json writes, are null. Throws UsageError.
nlohmann::json parse_config(std::string_view text, const std::string& origin);

// A model of pictures or sound and text keeps the numbers of its language model in an object of its
// own, and some of them beside it.
struct Language {
  nlohmann::json config;
  std::string origin;        // of messages
  std::string type;          // model_type; empty: the config has none
  std::string warning = {};  // that other parts are not counted
};
Language language_of(const nlohmann::json& root, const std::string& origin);

}  // namespace ridgebench
