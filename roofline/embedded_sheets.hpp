// The JSON texts of roofline/devices, compiled in by roofline/embed_sheets.cmake.
#pragma once

#include <span>
#include <string_view>

namespace ridgebench {

struct EmbeddedSheet {
  std::string_view file;  // "h100-sxm.json"
  std::string_view text;
};

// In the order of the file names.
std::span<const EmbeddedSheet> embedded_sheets();

}  // namespace ridgebench
