#include "harness/measure/duel/blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/step_fit.hpp"

namespace ridgebench {

ScaleTimes Scale::times(std::size_t group) const {
  ScaleTimes times{.block_s = block_s_,
                   .quads = static_cast<std::int64_t>(blocks_.size() / kBlocksOfAQuad)};
  std::array<DuelBlock, 2> sums{};
  for (std::size_t i = 0; i < blocks_.size(); i += group) {
    double seconds = 0;  // logarithms of ratios
    double cycles = 0;
    DuelBlock sum{};
    for (std::size_t j = i; j < i + group; ++j) {
      const double sign = (blocks_[j].side == 0 ? 2.0 : -2.0) / static_cast<double>(group);
      seconds += sign * std::log(blocks_[j].launch_s());
      sum.clocked = sum.clocked && blocks_[j].clocked;
      if (sum.clocked) cycles += sign * std::log(blocks_[j].launch_cycles());
      sum.seconds += blocks_[j].seconds;
      sum.cycles += blocks_[j].cycles;
    }
    times.log_seconds.push_back(seconds);
    if (!sum.clocked) continue;
    times.log_cycles.push_back(cycles);
    times.clock_hz.push_back(sum.cycles / sum.seconds);
  }
  for (const DuelBlock& block : blocks_) {
    sums.at(block.side).seconds += block.seconds;
    sums.at(block.side).launches += block.launches;
  }
  if (!blocks_.empty()) times.launch_s = {sums[0].launch_s(), sums[1].launch_s()};
  return times;
}

std::vector<double> Scale::joules(const Device& device, std::size_t side) const {
  const auto all = device.energy_readings(blocks_.empty() ? 0 : blocks_.front().begin_s);
  std::vector<double> joules;
  for (const DuelBlock& block : blocks_) {
    if (block.side != side) continue;
    const auto first = std::ranges::lower_bound(all, block.begin_s, {}, &CounterReading::time_s);
    const auto last =
        std::ranges::lower_bound(first, all.end(), block.end_s, {}, &CounterReading::time_s);
    const auto rate = fit_renewals({first, last});
    if (!rate || rate->per_s <= 0) return {};
    joules.push_back(rate->per_s * block.launch_s());
  }
  return joules;
}

}  // namespace ridgebench
