#include "roofline/json_pointer.hpp"

namespace ridgebench {

using nlohmann::ordered_json;

const ordered_json& value_at(const ordered_json& json, std::string_view pointer) {
  static const ordered_json none = nullptr;
  const ordered_json::json_pointer at{std::string(pointer)};
  return json.contains(at) ? json.at(at) : none;
}

std::optional<double> number_at(const ordered_json& json, std::string_view pointer) {
  const ordered_json& value = value_at(json, pointer);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string text_at(const ordered_json& json, std::string_view pointer) {
  const ordered_json& value = value_at(json, pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool flag_at(const ordered_json& json, std::string_view pointer) {
  const ordered_json& value = value_at(json, pointer);
  return value.is_boolean() && value.get<bool>();
}

}  // namespace ridgebench
