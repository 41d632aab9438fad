// The JSON texts of roofline/devices, roofline/models, roofline/families and
// roofline/ridgebench/judge, which embed_json.cmake compiles into the binary.
#pragma once

#include <span>
#include <string_view>

namespace ridgebench {

struct EmbeddedJson {
  std::string_view name;  // of the file, without its extension: "h100-sxm"
  std::string_view text;
};

// All return the files sorted by full name, with the extension.
std::span<const EmbeddedJson> embedded_sheets();
std::span<const EmbeddedJson> embedded_models();
std::span<const EmbeddedJson> embedded_families();
std::span<const EmbeddedJson> embedded_comparable();

}  // namespace ridgebench
