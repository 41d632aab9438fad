// Splits log ratios that depend on the clock. Memory may limit one kernel and arithmetic the other:
// their ratio then changes with the clock.
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

  // Returns the verdict of both states if it is the same, else undecided.
  [[nodiscard]] Verdict verdict() const;
};

// Splits log ratios by the clock of their quads, one each in Hz, if the two means differ at the 1 %
// level (Welch's t with the smaller degrees of freedom; errors as in blocked_mean) and each state
// has kFewestTestedBlocks quads. Else empty, also where `clock_hz` is not of the same size. A state
// may come several times; its quads are then joined in their order.
std::optional<SplitRatio> split_by_clock(std::span<const double> log_ratios,
                                         std::span<const double> clock_hz);

}  // namespace ridgebench
