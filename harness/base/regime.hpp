// In which state of the caches a row is measured.
#pragma once

#include <cstdint>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// steady: back to back over rotating buffer sets; cold: single launches with emptied caches; warm:
// back to back on one buffer set.
enum class Regime : std::uint8_t { steady, cold, warm };
constexpr auto names_of(Regime) { return enum_names("regime", "steady", "cold", "warm"); }

}  // namespace ridgebench
