// Unknown values are null in JSON, never 0 and never absent.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ridgebench {

template <class T>
nlohmann::ordered_json nullable(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// An empty text is not known.
inline nlohmann::ordered_json nullable(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

}  // namespace ridgebench
