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

// The log ratio of one process. The error is that of a verdict. It is infinite where the process
// has too few log ratios to show one.
struct OfProcess {
  double log_ratio;
  double error = std::numeric_limits<double>::infinity();
};

OfProcess of_state(const DuelAtClock& state) {
  // Half of a 95 % interval of many values; few values have a wider one.
  constexpr double kErrorsOfHalf = 1.96;
  if (!state.ci_low || !state.ci_high) return {std::log(state.ratio)};
  return {std::log(state.ratio), std::log(*state.ci_high / *state.ci_low) / 2 / kErrorsOfHalf};
}

// At full clock if the ratio depends on the clock.
OfProcess of_process(const DuelRatio& ratio) {
  const std::vector<double>& log_ratios = ratio.log_ratios;
  if (ratio.full_clock) return of_state(*ratio.full_clock);
  if (log_ratios.size() < kFewestRatios) return {mean(log_ratios)};
  const BlockedMean found = blocked_mean(log_ratios);
  return {found.mean.location, found.for_verdict.error};
}

// The log ratios of some processes, and their errors if all of them are known.
struct OfProcesses {
  std::vector<double> log_ratios = {};
  std::vector<double> errors = {};

  void add(const OfProcess& process) {
    log_ratios.push_back(process.log_ratio);
    errors.push_back(process.error);
  }
  [[nodiscard]] bool errors_known() const {
    return std::ranges::all_of(errors, [](double error) { return std::isfinite(error); });
  }
};

// A ratio of one process with the number of its quads and their median clock.
struct ProcessRatio {
  const DuelRatio* ratio;
  std::int64_t quads;
  double clock_hz;  // 0 if it is not known
};

// The processes of one power state.
struct ProcessesAtClock {
  OfProcesses processes = {};
  std::vector<double> clock_hz = {};
  std::int64_t quads = 0;

  void add(const OfProcess& process, std::int64_t of_process, double hz) {
    processes.add(process);
    quads += of_process;
    clock_hz.push_back(hz);
  }
  [[nodiscard]] DuelAtClock state(bool gpu) {
    DuelAtClock found{.clock_hz = middle(clock_hz), .quads = quads};
    if (gpu && processes.errors_known()) found.errors = std::move(processes.errors);
    found.log_ratios = std::move(processes.log_ratios);
    return found;
  }
};

// The ratio of each power state over the processes. A process whose ratio does not depend on the
// clock counts for the state that its clock is of.
DuelRatio over_states_of(bool gpu, const std::vector<ProcessRatio>& processes) {
  double highest_hz = 0;
  for (const auto& [ratio, quads, clock_hz] : processes) {
    if (ratio->full_clock) highest_hz = std::max(highest_hz, ratio->full_clock->clock_hz);
  }
  ProcessesAtClock full;
  ProcessesAtClock capped;
  for (const auto& [ratio, quads, clock_hz] : processes) {
    if (ratio->full_clock && ratio->capped) {
      full.add(of_state(*ratio->full_clock), ratio->full_clock->quads, ratio->full_clock->clock_hz);
      capped.add(of_state(*ratio->capped), ratio->capped->quads, ratio->capped->clock_hz);
    } else {
      const bool at_full = clock_hz >= (1 - kFullClockWithin) * highest_hz;
      (at_full ? full : capped).add(of_process(*ratio), quads, clock_hz);
    }
  }
  return ratio_of_states(full.state(gpu), capped.state(gpu));
}

// The ratio over the processes. A GPU's hardly differ, and a few of them decide with the errors
// within them. A host's differ, and each is one observation.
DuelRatio over_processes_of(bool gpu, const std::vector<ProcessRatio>& processes) {
  OfProcesses all;
  for (const ProcessRatio& one : processes) all.add(of_process(*one.ratio));
  if (!gpu || !all.errors_known()) all.errors.clear();
  const bool depends = std::ranges::any_of(
      processes, [](const ProcessRatio& one) { return one.ratio->depends_on_clock(); });
  if (depends) {
    DuelRatio split = over_states_of(gpu, processes);
    split.log_ratios = std::move(all.log_ratios);
    split.errors = std::move(all.errors);
    return split;
  }
  if (!all.errors.empty()) {
    return ratio_over_processes(std::move(all.log_ratios), std::move(all.errors));
  }
  return ratio_of(std::move(all.log_ratios), RatioRule::processes);
}

// The median clock of the quads of a scale; 0 if it is not known.
double clock_of(const DuelScale& scale) {
  std::vector<double> of_quads = scale.clock_hz;
  return of_quads.empty() ? 0 : middle(of_quads);
}

std::optional<DuelScale> combine(Processes processes,
                                 std::optional<DuelScale> DuelRecord::* member) {
  DuelScale all;
  std::vector<ProcessRatio> seconds;
  std::vector<ProcessRatio> cycles;
  for (const DuelRecord& process : processes) {
    const std::optional<DuelScale>& scale = process.*member;
    if (!scale || scale->seconds.log_ratios.empty()) continue;
    all.block_s = scale->block_s;
    all.quads += scale->quads;
    seconds.push_back({&scale->seconds, scale->quads, clock_of(*scale)});
    if (scale->cycles && !scale->cycles->log_ratios.empty()) {
      cycles.push_back({&*scale->cycles, scale->quads, clock_of(*scale)});
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
    clocks.push_back(clock_of(*process.short_scale));
  }
  if (clocks.empty()) return false;
  const auto [least, most] = std::ranges::minmax(clocks);
  return least < (1 - kFullClockWithin) * most;
}

// The value of each process; empty if one of them lacks it.
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
