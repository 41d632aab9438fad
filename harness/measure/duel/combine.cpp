#include "harness/measure/duel/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "harness/base/clock_split.hpp"
#include "harness/base/statistics.hpp"

namespace ridgebench {
namespace {

using Processes = std::span<const DuelRecord>;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The log ratio of one process, at full clock if it depends on the clock. The error is
// that of a verdict. It is infinite where the process has too few log ratios to show one.
struct OfProcess {
  double log_ratio;
  double error = std::numeric_limits<double>::infinity();
};

OfProcess of_process(const DuelRatio& ratio) {
  // Half of a 95 % interval of many values; few values have a wider one.
  constexpr double kErrorsOfHalf = 1.96;
  const std::vector<double>& log_ratios = ratio.log_ratios;
  if (ratio.full_clock) {
    const DuelAtClock& full = *ratio.full_clock;
    return {std::log(full.ratio), std::log(full.ci_high / full.ci_low) / 2 / kErrorsOfHalf};
  }
  if (log_ratios.size() < kFewestRatios) return {mean(log_ratios)};
  const BlockedMean found = blocked_mean(log_ratios);
  return {found.mean.location, found.for_verdict.error};
}

// The ratio over the processes. A GPU's hardly differ, and a few of them decide with the errors
// within them. A host's differ, and each is one observation.
DuelRatio over_processes_of(bool gpu, const std::vector<OfProcess>& processes) {
  std::vector<double> log_ratios;
  std::vector<double> errors;
  for (const OfProcess& process : processes) {
    log_ratios.push_back(process.log_ratio);
    errors.push_back(process.error);
  }
  const bool known = std::ranges::all_of(errors, [](double error) { return std::isfinite(error); });
  if (gpu && known) {
    return ratio_over_processes(std::move(log_ratios), std::move(errors));
  }
  return ratio_of(std::move(log_ratios), RatioRule::processes);
}

std::optional<DuelScale> combine(Processes processes,
                                 std::optional<DuelScale> DuelRecord::* member) {
  DuelScale all;
  std::vector<OfProcess> seconds;
  std::vector<OfProcess> cycles;
  for (const DuelRecord& process : processes) {
    const std::optional<DuelScale>& scale = process.*member;
    if (!scale || scale->seconds.log_ratios.empty()) continue;
    all.block_s = scale->block_s;
    all.quads += scale->quads;
    seconds.push_back(of_process(scale->seconds));
    if (scale->cycles && !scale->cycles->log_ratios.empty()) {
      cycles.push_back(of_process(*scale->cycles));
    }
  }
  if (seconds.empty()) return std::nullopt;
  const DuelRecord& first = processes.front();
  const bool gpu = first.backend == Backend::cuda || first.power_settles;
  all.seconds = over_processes_of(gpu, seconds);
  if (!cycles.empty()) all.cycles = over_processes_of(gpu, cycles);
  return all;
}

// True if the short scale of one process ran at another clock than that of another process.
bool clocks_differ(Processes processes) {
  std::vector<double> clocks;
  for (const DuelRecord& process : processes) {
    if (!process.short_scale || process.short_scale->clock_hz.empty()) continue;
    std::vector<double> of_quads = process.short_scale->clock_hz;
    clocks.push_back(middle(of_quads));
  }
  if (clocks.empty()) return false;
  const auto [least, most] = std::ranges::minmax(clocks);
  return least < (1 - kFullClockWithin) * most;
}

// The value of each process; empty if one of them does not know it.
std::vector<double> values(Processes processes, DuelSide DuelRecord::* side,
                           std::optional<double> DuelSide::* member) {
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
  if (bad == processes.end()) {
    if (clocks_differ(processes)) all.flags.emplace_back(kClocksDiffer);
    return all;
  }
  all.withhold_ratios();
  all.status = bad->status;
  all.flags = bad->flags;
  all.reason = fmt::format("process {} of {}: {}", bad - processes.begin() + 1, processes.size(),
                           bad->reason.value_or("no reason"));
  return all;
}

}  // namespace ridgebench
