#include "roofline/json_text.hpp"

namespace ridgebench {
namespace {

constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

}  // namespace

std::string json_line(const nlohmann::json& value) { return value.dump(-1, ' ', false, kReplace); }

std::string json_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, kReplace);
}

std::string json_lines(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, kReplace);
}

std::string json_ascii(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', true, kReplace);
}

nlohmann::ordered_json parse_ordered(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

}  // namespace ridgebench
