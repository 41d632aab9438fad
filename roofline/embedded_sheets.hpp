// roofline/embed_sheets.cmake compiles the JSON texts of roofline/devices into the binary.
#pragma once

#include <span>
#include <string_view>

namespace ridgebench {

struct EmbeddedSheet {
  std::string_view file;  // "h100-sxm.json"
  std::string_view text;
};

// Returns the sheets in the order of their file names.
std::span<const EmbeddedSheet> embedded_sheets();

}  // namespace ridgebench
