// Instruction sets of a host, oldest first (x86-64 psABI micro-architecture levels).
#pragma once

#include <cstdint>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

enum class Isa : std::uint8_t { none, v2, v3, v4 };  // none: not bound to a level (GPU, libraries)

constexpr auto names_of(Isa) {
  return enum_names("instruction set", "", "x86-64-v2", "x86-64-v3", "x86-64-v4");
}

// Newest level that this processor and its operating system support.
Isa host_isa();

}  // namespace ridgebench
