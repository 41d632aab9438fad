// Times two techniques in turns, in quads of blocks: first, second, second, first, or the other way
// round. A change of the machine that is linear in time cancels within a quad.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "harness/device/device.hpp"

namespace ridgebench {

// A short block ends before a power limit changes the clock. Both techniques then see one clock,
// and the ratio of their times is that of their cycles. The block is a little longer than a batch
// whose clock is known, because a clock that rises shortens it.
inline constexpr double kShortBlock_s = 1.2 * kShortestClockWindow;
inline constexpr std::int64_t kShortQuads = 200;
// A long block contains its own change of power: its first part is dropped until the power has
// settled.
inline constexpr double kLongBlock_s = 1.3;
inline constexpr double kDropped_s = 0.3;
inline constexpr std::int64_t kLongQuads = 4;

// Result of the blocks of one length.
struct ScaleTimes {
  double block_s = 0;  // planned seconds of a block, with its dropped part
  std::int64_t quads = 0;
  // Logarithms of the first technique's time per launch over the second's. The short scale has one
  // per quad. The long scale has one per pair of neighbouring blocks, two of opposite order in a
  // quad, because so few quads leave an interval no degrees of freedom.
  std::vector<double> log_seconds = {};
  std::vector<double> log_cycles = {};  // of the groups whose blocks all knew their clock
  std::vector<double> clock_hz = {};    // mean over each of those groups
  std::array<double, 2> launch_s{};     // busy seconds over launches, of each technique
  // Joules per launch of each technique's blocks: watts, by a line through the renewals of the
  // energy counter, times the busy seconds of a launch. Empty where no thread watches the counter,
  // and where a block has too few renewals.
  std::array<std::vector<double>, 2> joules{};
};

struct DuelTimes {
  ScaleTimes short_scale;
  std::optional<ScaleTimes> long_scale = std::nullopt;  // empty if the time is too short for it
};

struct DuelLimits {
  double seconds;          // for the warm-up and both scales
  double warm_up_s = 0;    // before the first quad
  bool settles = false;    // the device's power settles slowly, so that long blocks must be whole
  std::uint64_t seed = 1;  // of the orders of the quads
  std::function<bool()> stop = nullptr;  // called before every block; true throws Interrupted
};

// Blocks that a time is enough for.
struct DuelPlan {
  double short_s;  // seconds in which the short scale must end
  std::int64_t long_quads;
  double long_block_s;
};
// `seconds` do not include the warm-up.
DuelPlan plan_duel(double seconds, bool settles);

// `first` and `second` hold one launch per buffer set, over the same sets in the same order. The
// device starts each batch before the last one is waited for. Throws Interrupted, and rethrows
// exceptions of the device.
DuelTimes time_duel(Device& device, std::span<const Launch> first, std::span<const Launch> second,
                    const DuelLimits& limits);

// Launches of a cold block, at most.
inline constexpr int kColdLaunches = 10;

// Times single launches behind caches that are emptied before each, in up to kShortQuads quads, one
// at least. A block is a number of them, at most kColdLaunches, with which all quads fit into the
// time. The device idles between two launches, so that there is no long scale. Throws as
// time_duel() does.
DuelTimes time_cold_duel(Device& device, const Launch& first, const Launch& second,
                         const DuelLimits& limits);

}  // namespace ridgebench
