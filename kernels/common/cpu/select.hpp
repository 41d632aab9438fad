// A choice between two numbers without a branch.
#pragma once

#include <bit>
#include <cstdint>

namespace ridgebench::cpu {

// condition ? yes : no by masks. The compiler may turn ?: into a branch, to skip the work of one
// side, and then does not vectorise the loop around it.
[[gnu::always_inline]] constexpr std::uint32_t select(bool condition, std::uint32_t yes,
                                                      std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

[[gnu::always_inline]] constexpr float select(bool condition, float yes, float no) {
  return std::bit_cast<float>(
      select(condition, std::bit_cast<std::uint32_t>(yes), std::bit_cast<std::uint32_t>(no)));
}

}  // namespace ridgebench::cpu
