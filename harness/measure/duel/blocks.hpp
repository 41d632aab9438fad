// The blocks of a duel, and the log ratios that they give.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "harness/measure/duel/timing.hpp"

namespace ridgebench {

inline constexpr std::size_t kBlocksOfAQuad = 4;

// Draws the techniques of the blocks of a quad. A fixed order could keep step with an oscillation
// of the clock.
inline std::array<std::size_t, kBlocksOfAQuad> draw_quad(std::mt19937_64& random) {
  const std::size_t leader = random() % 2;
  return {leader, 1 - leader, 1 - leader, leader};
}

// Time of a block of one technique.
struct DuelBlock {
  std::size_t side;
  double seconds = 0;
  double cycles = 0;
  std::int64_t launches = 0;
  double begin_s = 0;  // by the device's now_s(), without the dropped part
  double end_s = 0;
  bool clocked = true;

  // Adds a batch of the technique.
  void add(const Timing& timing, std::int64_t of_batch) {
    seconds += timing.seconds;
    launches += of_batch;
    clocked = clocked && timing.clock_hz.has_value();
    cycles += timing.seconds * timing.clock_hz.value_or(0);
  }

  [[nodiscard]] double launch_s() const { return seconds / static_cast<double>(launches); }
  [[nodiscard]] double launch_cycles() const { return cycles / static_cast<double>(launches); }
};

// The blocks of one scale, quad by quad.
class Scale {
 public:
  explicit Scale(double block_s) : block_s_(block_s) {}

  DuelBlock* add(std::size_t side) { return &blocks_.emplace_back(DuelBlock{.side = side}); }

  // One log ratio per group of neighbouring blocks: a quad or a pair.
  [[nodiscard]] ScaleTimes times(std::size_t group) const;
  // Joules per launch of the blocks of a technique.
  [[nodiscard]] std::vector<double> joules(const Device& device, std::size_t side) const;

 private:
  double block_s_;
  std::deque<DuelBlock> blocks_;  // the addresses of its members stay
};

}  // namespace ridgebench
