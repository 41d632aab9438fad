// Strict JSON on stdout, what --json promises.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ridgebench {

// A name that is not UTF-8 (of a file, say) gets replacement characters; JSON allows nothing else.
inline void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace ridgebench
