#include "harness/measure/probing/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "harness/base/statistics.hpp"
#include "harness/measure/probing/kept_bits.hpp"
#include "harness/measure/probing/probe_cost.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/results/suspect.hpp"

namespace ridgebench {
namespace {

// Launches of a probe into outputs that hold NaN: kernels of the user may leave some of them out.
constexpr std::size_t kLaunchesIntoNan = 4;
// All probes are due before that many samples; a case with fewer takes the others at its end. A
// kernel of the user cannot foresee the place. The probes of the suite's kernels are due within the
// fewest samples, so that their time is a part of the case's.
constexpr std::size_t kSamplesBetween = 24;
constexpr std::size_t kSamplesOfOurs = kFewestSamples - 1;
// Launches after which an output may no longer change, and the longest wait for that.
constexpr double kLaunchesWaited = 2;
constexpr double kLongestWait_s = 0.5;

std::vector<Novelty> draw_kinds(std::size_t count, std::mt19937_64& random) {
  std::vector<Novelty> kinds(count, Novelty::fresh);
  std::fill_n(kinds.begin(), count / 2, Novelty::sparse);
  std::ranges::shuffle(kinds, random);
  return kinds;
}

std::vector<std::size_t> draw_places(std::size_t count, std::size_t last, std::mt19937_64& random) {
  std::uniform_int_distribution<std::size_t> place(1, last);
  std::vector<std::size_t> after(count);
  for (std::size_t& samples : after) samples = place(random);
  std::ranges::sort(after);
  return after;
}

}  // namespace

Probes::Probes(Device& device, Buffers& buffers, const Case& c, const Problem& problem,
               std::span<const BufferSet> sets, std::uint64_t seed,
               std::vector<HostBuffer>& input_copies)
    : device_(&device),
      buffers_(&buffers),
      case_(&c),
      problem_(&problem),
      sets_(sets),
      random_(seed),
      wanted_(probes_of(c)),
      compared_(affordable_probes(problem)),
      kinds_(draw_kinds(wanted_, random_)),
      after_(draw_places(wanted_, c.implementation->of_user() ? kSamplesBetween : kSamplesOfOurs,
                         random_)),
      input_copies_(&input_copies) {}

bool Probes::due(std::size_t samples) const {
  return !all_taken() && samples >= after_[taken_.size()];
}

void Probes::take(double launch_s, const Launcher& launcher) {
  take(kinds_[taken_.size()], launch_s, launcher);
}

void Probes::take(Novelty novelty, double launch_s, const Launcher& launcher) {
  const std::size_t most = std::max<std::size_t>(1, sets_.size() - 1);
  const double wanted = std::ceil(kProbe_s / std::max(launch_s, 1e-9));
  const auto count = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(most)));
  const NewInputs::Sets chosen{random_() % (sets_.size() - count + 1), count};
  Probe& probe = taken_.emplace_back();
  probe.inputs = std::make_unique<NewInputs>(*device_, *buffers_, *problem_, sets_, chosen, novelty,
                                             random_(), saved_);
  const bool own = case_->implementation->of_user();
  const std::uint64_t before = checksum_before(chosen, launcher);
  for (std::size_t launches = 0; launches == 0 || (own && launches < kLaunchesIntoNan);
       launches += count) {
    probe.inputs->write();
    const double seconds = launch_after_write(chosen, launcher);
    if (launches > 0) {
      probe.unwritten = probe.unwritten || holds_nan(chosen);
      continue;
    }
    if (probe.inputs->fresh()) found_.new_inputs_s.push_back(seconds);
    const NewInputs::Sets last{chosen.first + count - 1, 1};
    const std::uint64_t sum = own ? checksum(last) : 0;
    probe.unwritten = holds_nan(chosen);
    probe.set = chosen.first + random_() % count;
    if (taken_.size() <= compared_) copy_rows(probe);
    if (own) probe.late = changes_within(last, sum, seconds);
  }
  probe.inputs->restore();
  launcher(chosen);  // the outputs are again those of the old inputs
  probe.kept = own && repeats_bits() && checksum(chosen) != before;
}

std::uint64_t Probes::checksum_before(NewInputs::Sets chosen, const Launcher& launcher) const {
  if (!case_->implementation->of_user()) return 0;
  const std::uint64_t sum = checksum(chosen);
  // A kernel that works one launch late then begins with a set that the probe does not change.
  if (sets_.size() > 1) launcher({(chosen.first + chosen.count) % sets_.size(), 1});
  return sum;
}

double Probes::launch_after_write(NewInputs::Sets chosen, const Launcher& launcher) {
  const auto sets = static_cast<std::int64_t>(sets_.size());
  if (comparing_times_ && !buffers_->caches_may_serve(problem_->operands, sets)) {
    try {
      static_cast<void>(device_->time_cold([] {}));
    } catch (const OutOfMemory&) {
      // Without memory to read, the launch is timed as it is.
    }
  }
  return launcher(chosen);
}

bool Probes::repeats_bits() const {
  return !case_->technique.order_dependent && !problem_->in_place();
}

bool Probes::holds_nan(NewInputs::Sets chosen) const {
  return std::ranges::any_of(sets_.subspan(chosen.first, chosen.count), [&](const auto& set) {
    return outputs_hold_nan(device_->memory(), problem_->outputs, set);
  });
}

void Probes::copy_rows(Probe& probe) const {
  probe.rows = probe.inputs->rows_to_compare(kProbeCost);
  const auto views =
      read_rows(device_->memory(), problem_->outputs, probe.rows, sets_[probe.set], probe.outputs);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto bytes = bytes_of_rows(problem_->outputs[i], probe.rows);
    std::byte* const copy = probe.outputs[i].resize(bytes);
    const auto* const rows = static_cast<const std::byte*>(views[i].data);
    if (rows != copy) std::copy_n(rows, bytes, copy);
  }
}

std::uint64_t Probes::checksum(NewInputs::Sets chosen) const {
  constexpr std::uint64_t kOdd = 0xD6E8FEB86659FD93;  // keeps the order of the sets apart
  std::uint64_t sum = 0;
  for (const BufferSet& set : sets_.subspan(chosen.first, chosen.count)) {
    sum = kOdd * sum + checksum_of(device_->memory(), problem_->outputs, set);
  }
  return sum;
}

bool Probes::changes_within(NewInputs::Sets set, std::uint64_t before, double launch_s) const {
  const double wait_s = std::min(kLaunchesWaited * launch_s, kLongestWait_s);
  std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
  return checksum(set) != before;
}

bool Probes::work_goes_on(double launch_s) const {
  if (!case_->implementation->of_user()) return false;
  const NewInputs::Sets last{sets_.size() - 1, 1};
  return changes_within(last, checksum(last), launch_s);
}

void Probes::time_old_inputs(const Launcher& launcher) {
  const NewInputs::Sets chosen = taken_.back().inputs->sets();
  NewInputs inputs(*device_, *buffers_, *problem_, sets_, chosen, Novelty::fresh, random_(),
                   saved_);
  static_cast<void>(checksum_before(chosen, launcher));
  inputs.write_inputs();
  inputs.restore();
  inputs.rewrite_outputs();
  found_.old_inputs_s.push_back(launch_after_write(chosen, launcher));
}

void Probes::compare_times(double median_s, const Launcher& launcher) {
  const std::size_t enough =
      kMoreFreshProbes + std::max(kFewestFreshProbes, found_.new_inputs_s.size());
  const double factor =
      slower_factor(problem_->work.bytes, static_cast<std::int64_t>(sets_.size()));
  comparing_times_ = true;
  while (may_be_slower(found_, median_s, factor) && found_.new_inputs_s.size() < enough) {
    take(Novelty::fresh, median_s, launcher);
    time_old_inputs(launcher);
  }
  while (may_be_slower(found_, median_s, factor) &&
         found_.old_inputs_s.size() < kLaunchesOnOldInputs) {
    time_old_inputs(launcher);
  }
}

std::optional<std::string> Probes::seen() const {
  for (const Probe& probe : taken_) {
    if (probe.unwritten) {
      return fmt::format(
          "a launch on new values of {} left elements of the output unwritten: the kernel does not "
          "compute in each launch",
          probe.inputs->text());
    }
    if (probe.late) return kWorkGoesOn;
    if (probe.kept) {
      return "a launch left the output of other inputs as it was: the kernel does not compute in "
             "each launch";
    }
  }
  return std::nullopt;
}

std::optional<std::string> Probes::check(Verification& result) {
  for (const Probe& probe : taken_) {
    if (found_.compared == static_cast<std::int64_t>(compared_)) break;
    try {
      if (auto wrong = check_one(probe, result)) return wrong;
    } catch (const std::bad_alloc&) {
      break;  // the host has too little memory for the reference of new inputs
    }
    ++found_.compared;
  }
  if (!taken_.empty()) result.probes = found_;
  return std::nullopt;
}

std::optional<std::string> Probes::check_one(const Probe& probe, Verification& result) {
  const Implementation& implementation = *case_->implementation;
  std::vector<View> outputs;
  for (std::size_t i = 0; i < problem_->outputs.size(); ++i) {
    outputs.push_back({probe.outputs[i].data(), problem_->outputs[i].operand.format});
  }
  const auto reference = [&](std::span<const View> inputs) {
    return reference_of(*problem_, inputs, probe.rows);
  };
  const auto expected = reference(probe.inputs->new_views(probe.set, probe.rows, *input_copies_));
  Verification found = compare(implementation, *problem_, outputs, probe.rows, expected);
  found.elements = 0;  // result.elements counts those of the inputs of the run
  add(result, found);
  if (!result.passed()) {
    return fmt::format(
        "on new values of {}, the output differs from the reference by {:.3g} x the "
        "tolerance: the kernel computes other results than in the samples",
        probe.inputs->text(), result.error);
  }
  const auto old_outputs =
      read_rows(device_->memory(), problem_->outputs, probe.rows, sets_[probe.set], old_outputs_);
  const KeptBits kept(implementation, case_->shape, problem_->outputs, probe.rows, outputs,
                      old_outputs);
  const bool doubted = may_be_fixed(probe);
  if (!kept.any() && !doubted) return std::nullopt;
  const auto of_old = reference(probe.inputs->old_views(probe.set, *input_copies_));
  if (doubted) note_moved(kept.moved_outputs(expected, of_old));
  if (!kept.any() || !kept.most_moved(expected, of_old)) return std::nullopt;
  return fmt::format("on new values of {}, the output keeps the bits of the old values",
                     probe.inputs->text());
}

bool Probes::may_be_fixed(const Probe& probe) const {
  return case_->implementation->of_user() && probe.inputs->fresh() &&
         (moved_.empty() || fixed_answer());
}

void Probes::note_moved(const std::vector<bool>& outputs) {
  moved_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) moved_[i] = moved_[i] || outputs[i];
}

}  // namespace ridgebench
