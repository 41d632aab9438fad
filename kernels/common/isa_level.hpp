// Instruction sets of a host, oldest first within an architecture: the micro-architecture levels of
// the x86-64 psABI, and 64-bit ARM without and with SVE.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// none: not bound to a level (GPU, libraries).
enum class Isa : std::uint8_t { none, v2, v3, v4, armv8, sve };

constexpr auto names_of(Isa) {
  return enum_names("instruction set", "", "x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a",
                    "armv8-a+sve");
}

// Newest level that this processor and its operating system support; none on an architecture that
// has no level here.
Isa host_isa();

// The level that this build has techniques for, if it has them for one only; else none.
Isa only_isa();

// A build that has techniques for `only` does not serve a processor of the level `host`: what the
// user reads then, else empty.
std::string wrong_isa(Isa only, Isa host);

// Bytes of an SVE register as the kernel sets it; 0 without SVE.
int host_sve_bytes();

}  // namespace ridgebench
