// Instruction sets of a host, oldest first (x86-64 psABI micro-architecture levels).
#pragma once

#include <cstdint>
#include <string_view>

namespace ridgebench {

enum class Isa : std::uint8_t { none, v2, v3, v4 };  // none: not bound to a level (GPU, libraries)

// "x86-64-v3"; empty for none.
std::string_view name(Isa isa);

// Newest level that this processor and its operating system support.
Isa host_isa();

}  // namespace ridgebench
