// The JSON texts of roofline/devices, roofline/models, roofline/families,
// roofline/ridgebench/judge and the schema of environment.json, which embed_json.cmake compiles
// into the binary.
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
std::span<const EmbeddedJson> embedded_schemas();

}  // namespace ridgebench
