// What is not known is null in JSON, never 0 and never absent.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace ridgebench {

template <class T>
nlohmann::ordered_json nullable(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace ridgebench
