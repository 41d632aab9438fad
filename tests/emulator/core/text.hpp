// Source positions in messages.
#pragma once

#include <fmt/format.h>
#include <vector_types.h>

#include <source_location>
#include <string>
#include <string_view>

namespace ridgebench::emulator {

inline std::string text(uint3 index) {
  return fmt::format("({}, {}, {})", index.x, index.y, index.z);
}

inline std::string text(const std::source_location& where) {
  const std::string_view file = where.file_name();
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), where.line());
}

}  // namespace ridgebench::emulator
