// Names of modules in the lists of a quantization_config.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// The modules of a layer that hold linear layers. `network` is that of the layer, with all of its
// experts; `all` is every module of it.
enum class ModulePart : std::uint8_t { all, attention, recurrence, network, expert, shared, head };

// The modules that one entry of a list names. Layer, expert and projection are patterns in which *
// is any text; empty: all of them.
struct ModuleName {
  std::string layer;           // its number: "12", "1*"
  std::set<ModulePart> parts;  // empty for an unknown module
  std::string expert;          // its number
  std::string projection;      // "q_proj"

  friend auto operator<=>(const ModuleName&, const ModuleName&) = default;
};

// Reads a whole name, "model.layers.3.mlp.down_proj", which also names all modules inside of it, or
// a pattern of a shell or, after "re:", of Python's re.match. Alternatives, "(gate|up)_proj", give
// a name each. Empty for a pattern of another kind.
std::vector<ModuleName> parse_module_names(std::string_view text);

// The last part of a name or a pattern without stars: "router" of "model.layers.0.router*".
std::string last_part(std::string_view text);

}  // namespace ridgebench
