#include "harness/measure/duel/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace ridgebench {
namespace {

using Processes = std::span<const DuelRecord>;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The log ratio of one process: the location of its own, at full clock if it depends on the clock.
double location(const DuelRatio& ratio) {
  const std::vector<double>& log_ratios = ratio.log_ratios;
  if (ratio.full_clock) return std::log(ratio.full_clock->ratio);
  if (log_ratios.size() >= kFewestRatios) return blocked_mean(log_ratios).mean.location;
  return mean(log_ratios);
}

std::optional<DuelScale> combine(Processes processes,
                                 std::optional<DuelScale> DuelRecord::* member) {
  DuelScale all;
  std::vector<double> seconds;
  std::vector<double> cycles;
  for (const DuelRecord& process : processes) {
    const std::optional<DuelScale>& scale = process.*member;
    if (!scale || scale->seconds.log_ratios.empty()) continue;
    all.block_s = scale->block_s;
    all.quads += scale->quads;
    seconds.push_back(location(scale->seconds));
    if (scale->cycles && !scale->cycles->log_ratios.empty()) {
      cycles.push_back(location(*scale->cycles));
    }
  }
  if (seconds.empty()) return std::nullopt;
  all.seconds = ratio_of(std::move(seconds), RatioRule::processes);
  if (!cycles.empty()) all.cycles = ratio_of(std::move(cycles), RatioRule::processes);
  return all;
}

// The value of each process; empty if one of them does not know it.
std::vector<double> values(Processes processes, DuelSide DuelRecord::*side,
                           std::optional<double> DuelSide::*member) {
  std::vector<double> found;
  for (const DuelRecord& process : processes) {
    const std::optional<double>& value = process.*side.*member;
    if (!value) return {};
    found.push_back(*value);
  }
  return found;
}

}  // namespace

DuelRecord combine(Processes processes) {
  DuelRecord all = processes.front();
  all.processes = std::ssize(processes);
  all.short_scale = combine(processes, &DuelRecord::short_scale);
  all.long_scale = combine(processes, &DuelRecord::long_scale);
  for (const auto side : {&DuelRecord::first, &DuelRecord::second}) {
    const std::vector<double> times = values(processes, side, &DuelSide::time_s);
    (all.*side).time_s.reset();
    if (!times.empty()) (all.*side).time_s = mean(times);
    (all.*side).set_energy(values(processes, side, &DuelSide::energy_per_launch_j));
  }
  const auto bad = std::ranges::find_if(
      processes, [](const DuelRecord& process) { return process.status != Status::ok; });
  if (bad == processes.end()) return all;
  all.short_scale = all.long_scale = std::nullopt;
  all.status = bad->status;
  all.flags = bad->flags;
  all.reason = fmt::format("process {} of {}: {}", bad - processes.begin() + 1, processes.size(),
                           bad->reason.value_or("no reason"));
  return all;
}

}  // namespace ridgebench
