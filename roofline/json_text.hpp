// Text of JSON and JSON of text. A unit that calls dump() or parse() of nlohmann-json compiles the
// library's writer or parser again: these functions compile each once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ridgebench {

// Return the text in one line, and in lines of `indent` spaces a level. A byte that is not UTF-8,
// which a name of this system may have, becomes U+FFFD.
std::string json_line(const nlohmann::json& value);
std::string json_line(const nlohmann::ordered_json& value);
std::string json_lines(const nlohmann::ordered_json& value, int indent);
// As json_line, but every character beyond ASCII is an escape sequence.
std::string json_ascii(const nlohmann::ordered_json& value);

// Parses a whole text and keeps the order of the keys. For text that this program wrote or that
// parse_json (json_object.hpp) accepted: throws nlohmann::json::parse_error.
nlohmann::ordered_json parse_ordered(std::string_view text);

}  // namespace ridgebench
