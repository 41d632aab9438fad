#include "harness/base/clock_split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "harness/base/statistics.hpp"
#include "kernels/common/norm.hpp"

namespace ridgebench {
namespace {

constexpr double kTwoSided99 = 0.995;

struct ClockState {
  std::vector<double> log_ratios;
  std::vector<double> clock_hz;
};

bool differ(const TrimmedMean& a, const TrimmedMean& b) {
  const double reach = t_quantile(kTwoSided99, std::min(a.freedom, b.freedom));
  return std::abs(a.location - b.location) > reach * norm_of(a.error, b.error);
}

RatioAtClock estimate(ClockState& state) {
  return {estimate_ratio(state.log_ratios).value(), state.log_ratios.size(),
          middle(state.clock_hz)};
}

}  // namespace

Verdict SplitRatio::verdict() const {
  const bool agree = full_clock.ratio.verdict == capped.ratio.verdict;
  return agree ? full_clock.ratio.verdict : Verdict::undecided;
}

std::optional<SplitRatio> split_by_clock(std::span<const double> log_ratios,
                                         std::span<const double> clock_hz) {
  if (log_ratios.size() != clock_hz.size() || log_ratios.empty()) return std::nullopt;
  const double full = (1 - kFullClockWithin) * *std::ranges::max_element(clock_hz);
  std::array<ClockState, 2> states;  // at full clock, capped
  for (std::size_t i = 0; i < log_ratios.size(); ++i) {
    ClockState& state = states.at(clock_hz[i] >= full ? 0 : 1);
    state.log_ratios.push_back(log_ratios[i]);
    state.clock_hz.push_back(clock_hz[i]);
  }
  const bool few = std::ranges::any_of(states, [](const ClockState& state) {
    return state.log_ratios.size() < kFewestTestedBlocks;
  });
  if (few ||
      !differ(blocked_mean(states[0].log_ratios).mean, blocked_mean(states[1].log_ratios).mean)) {
    return std::nullopt;
  }
  return SplitRatio{estimate(states[0]), estimate(states[1])};
}

}  // namespace ridgebench
