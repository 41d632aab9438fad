#include "harness/measure/duel/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ridgebench {
namespace {

using Processes = std::span<const DuelRecord>;

// The log ratio of one process: the location of its own.
double location(const std::vector<double>& log_ratios) {
  if (log_ratios.size() >= kFewestRatios) return trimmed_mean(log_ratios).location;
  return std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0) /
         static_cast<double>(log_ratios.size());
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
    seconds.push_back(location(scale->seconds.log_ratios));
    if (scale->cycles && !scale->cycles->log_ratios.empty()) {
      cycles.push_back(location(scale->cycles->log_ratios));
    }
  }
  if (seconds.empty()) return std::nullopt;
  all.seconds = ratio_of(std::move(seconds));
  if (!cycles.empty()) all.cycles = ratio_of(std::move(cycles));
  return all;
}

// The mean over the processes; empty if one of them does not know the value.
std::optional<double> mean(Processes processes, DuelSide DuelRecord::* side,
                           std::optional<double> DuelSide::* member) {
  double sum = 0;
  for (const DuelRecord& process : processes) {
    const std::optional<double>& value = process.*side.*member;
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(processes.size());
}

}  // namespace

DuelRecord combine(Processes processes) {
  DuelRecord all = processes.front();
  all.processes = std::ssize(processes);
  all.short_scale = combine(processes, &DuelRecord::short_scale);
  all.long_scale = combine(processes, &DuelRecord::long_scale);
  for (const auto side : {&DuelRecord::first, &DuelRecord::second}) {
    (all.*side).time_s = mean(processes, side, &DuelSide::time_s);
    (all.*side).energy_per_launch_j = mean(processes, side, &DuelSide::energy_per_launch_j);
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
