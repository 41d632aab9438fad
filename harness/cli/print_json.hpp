// Prints strict JSON on stdout for --json.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ridgebench {

// Replaces bytes that are not UTF-8, which a file name may contain: JSON allows UTF-8 only.
inline void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace ridgebench
