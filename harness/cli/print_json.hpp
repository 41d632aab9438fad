// Prints strict JSON on stdout for --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ridgebench {

// Returns the text in lines of two spaces a level. A number has the fewest digits that read back as
// the same double: nlohmann-json prints 1e23 as 9.999999999999999e+22. The text is ASCII, so that a
// name from a file cannot control a terminal. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

void print_json(const nlohmann::ordered_json& json);

}  // namespace ridgebench
