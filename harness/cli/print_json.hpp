// Strict JSON on stdout, as --json promises.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ridgebench {

// JSON allows UTF-8 only: a text that is not, such as a file name, gets replacement characters.
inline void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace ridgebench
