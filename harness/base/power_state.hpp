// Says whether the power limit lowered the clock while a row was sampled.
#pragma once

#include <cstdint>

#include "kernels/common/enum_names.hpp"

namespace ridgebench {

// full_clock: hardly ever; capped: most of the time; mixed: in between, so that the row's samples
// are of two clocks.
enum class PowerState : std::uint8_t { full_clock, capped, mixed };
constexpr auto names_of(PowerState) {
  return enum_names("power state", "full_clock", "capped", "mixed");
}

// Shares of the sampling in which the limit lowered the clock, by NVML's counter of power
// violations. The counter is renewed every 0.1 s, so a window of 0.3 s holds at least two renewals.
inline constexpr double kCappedShare = 0.05;
inline constexpr double kMostlyCapped = 0.5;
inline constexpr double kShortestPowerWindow_s = 0.3;

// `share` is from 0 to 1.
constexpr PowerState power_state(double share) {
  if (share <= kCappedShare) return PowerState::full_clock;
  return share < kMostlyCapped ? PowerState::mixed : PowerState::capped;
}

}  // namespace ridgebench
