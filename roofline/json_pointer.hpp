// Values at JSON pointers (RFC 6901) of JSON that may lack them: "/driver/cuda/status".
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ridgebench {

// Returns null if the JSON has no such value.
const nlohmann::ordered_json& value_at(const nlohmann::ordered_json& json,
                                       std::string_view pointer);
// Returns the number, or an empty value.
std::optional<double> number_at(const nlohmann::ordered_json& json, std::string_view pointer);
// Returns the text, or "".
std::string text_at(const nlohmann::ordered_json& json, std::string_view pointer);
// Returns true if the value is true.
bool flag_at(const nlohmann::ordered_json& json, std::string_view pointer);

}  // namespace ridgebench
