// Log ratios that depend on the clock, such as those of a kernel that memory limits against one
// that arithmetic limits.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "harness/base/ratio.hpp"

namespace ridgebench {

// Quads whose clock lies at most this share below the highest one ran at full clock: two steps of
// an NVIDIA GPU's clock, 15 MHz each, of 1980 MHz, and the error of a measured clock.
inline constexpr double kFullClockWithin = 0.02;

// The ratio of the quads of one power state.
struct RatioAtClock {
  Ratio ratio;
  std::size_t quads;
  double clock_hz;  // median
};

struct SplitRatio {
  RatioAtClock full_clock;
  RatioAtClock capped;  // all other quads

  // What both states agree on, else undecided.
  [[nodiscard]] Verdict verdict() const;
};

// Splits log ratios by the clock of their quads, one each in Hz, if the two means differ at the 1 %
// level (Welch's t with the smaller degrees of freedom; errors as in blocked_mean) and each state
// has kFewestTestedBlocks quads. Else empty, also where `clock_hz` is not of the same size. A state
// may come in several episodes; its quads stand one behind the other.
std::optional<SplitRatio> split_by_clock(std::span<const double> log_ratios,
                                         std::span<const double> clock_hz);

}  // namespace ridgebench
