#include "harness/measure/duel/duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/stopwatch.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/measure/duel/timing.hpp"
#include "harness/measure/failure.hpp"
#include "harness/measure/verifying/check_needs.hpp"
#include "harness/results/measured_roofs.hpp"
#include "harness/results/suspect.hpp"

namespace ridgebench {
namespace {

// Seconds of the warm-up where no power settles, at most.
constexpr double kWarmUp_s = 0.5;

// `clock_hz` holds the clocks by which a ratio is split: those of quads, which see one clock each.
DuelScale scale_of(ScaleTimes times, std::vector<double> clock_hz) {
  DuelScale scale{.block_s = times.block_s,
                  .quads = times.quads,
                  .seconds = {.log_ratios = std::move(times.log_seconds)}};
  if (!times.log_cycles.empty()) scale.cycles = {.log_ratios = std::move(times.log_cycles)};
  scale.clock_hz = std::move(clock_hz);
  scale.judge(RatioRule::blocked);
  return scale;
}

// Joules per launch of the long blocks.
void add_energy(DuelRecord& record, const std::optional<ScaleTimes>& times, bool watched) {
  record.no_energy = "no long blocks were measured";
  if (!times || times->quads == 0) return;
  record.no_energy = watched ? "the energy counter was renewed too seldom"
                             : "nothing watches an energy counter of this device";
  if (times->joules[0].empty() || times->joules[1].empty()) return;
  record.first.set_energy(times->joules[0]);
  record.second.set_energy(times->joules[1]);
  record.no_energy.reset();
}

void add_times(DuelRecord& record, DuelTimes times) {
  const auto set_times = [&](const ScaleTimes& scale) {
    record.first.time_s = scale.launch_s[0];
    record.second.time_s = scale.launch_s[1];
  };
  if (times.short_scale.quads > 0) {
    set_times(times.short_scale);
    record.short_scale = scale_of(times.short_scale, times.short_scale.clock_hz);
  }
  if (times.long_scale && times.long_scale->quads > 0) {
    record.long_scale = scale_of(*times.long_scale, {});
    if (record.deciding() == &*record.long_scale) set_times(*times.long_scale);
  }
}

// Records the device's telemetry of a duel, also if the duel throws.
class DuelTelemetry {
 public:
  DuelTelemetry(Device& device, DuelRecord& record) : device_(&device), record_(&record) {
    device.begin_case(record.id);
  }
  DuelTelemetry(const DuelTelemetry&) = delete;  // the destructor ends the case
  DuelTelemetry& operator=(const DuelTelemetry&) = delete;
  ~DuelTelemetry() { record_->telemetry = device_->end_case(); }

 private:
  Device* device_;
  DuelRecord* record_;
};

}  // namespace

Duelist::Duelist(Device& device, Fill fill, std::uint64_t seed)
    : device_(&device),
      fill_(fill),
      seed_(seed),
      buffers_(device, fill, seed),
      checks_{OutputCheck(device, fill, seed), OutputCheck(device, fill, seed)} {}

DuelRecord Duelist::measure(const DuelCase& duel, const std::function<bool()>& stop) {
  const Stopwatch clock;
  DuelRecord record = duel.describe();
  record.seed = seed_;
  record.fill = name(fill_);
  record.reason = duel.unsupported();
  if (record.reason) return record;
  measure_or_fail(record, "duel", [&] {
    // Each duel gets all of the memory: the one before may have been of another format.
    const bool shared =
        is_remote(*duel.first.implementation) || is_remote(*duel.second.implementation);
    buffers_ = Buffers(*device_, fill_, seed_, shared);
    run_phases(record, duel, stop);
  });
  record.duration_s = clock.seconds();
  return record;
}

void Duelist::run_phases(DuelRecord& record, const DuelCase& duel,
                         const std::function<bool()>& stop) {
  const DuelTelemetry scope(*device_, record);
  const std::vector<Operand> operands = duel.first.operands();
  require_room(buffers_, duel.first);
  std::array<Contender, 2> contenders = prepare(record, duel);
  const std::int64_t wanted = duel.cold() ? 1 : buffers_.sets_to_rotate(operands);
  std::vector<BufferSet> sets = bind(contenders, 1, wanted);
  for (Contender& contender : contenders) {
    const auto wrong = check_before(contender, sets.front());
    if (wrong) return fail(record, Status::wrong, *wrong);
    const Early alone{.early = false, .unknown = {}};
    const Early early = duel.cold() ? alone : device_->early(contender.rotation.front());
    contender.side->early = early.early;
    if (!early.early) contender.side->early_unknown = early.unknown;
  }
  record.sets = std::min(wanted, affordable_sets(contenders, duel.seconds));
  if (record.sets > 1) sets = bind(contenders, record.sets, 0);
  if (!duel.cold() && buffers_.rotation_is_short(operands, record.sets)) {
    record.flags.emplace_back(kShortRotation);
  }
  for (const Contender& contender : contenders) begin_claims(contender.rotation);
  DuelTimes times = timed(contenders, duel, stop);
  const bool watched = !device_->energy_readings(0).empty();
  for (Contender& contender : contenders) {
    const auto wrong = check_after(contender, sets);
    if (wrong) return fail(record, Status::wrong, *wrong);
  }
  add_energy(record, times.long_scale, watched);
  add_times(record, std::move(times));
  record.status = Status::ok;
  for (const Contender& contender : contenders) {
    if (!contender.side->time_s) continue;
    if (const auto doubt = doubted_claim(*contender.side->time_s, seen_s(contender.rotation))) {
      fail(record, Status::suspect, fmt::format("{}: {}", contender.side->technique, *doubt));
    }
  }
}

DuelTimes Duelist::timed(const std::array<Contender, 2>& contenders, const DuelCase& duel,
                         const std::function<bool()>& stop) {
  const bool tensor = duel.first.technique.engine == Engine::tensor;
  const double warm_up_s = tensor ? device_->tensor_warm_up_s() : 0;
  const DuelLimits limits{.seconds = duel.seconds,
                          .warm_up_s = std::max(warm_up_s, std::min(kWarmUp_s, duel.seconds / 20)),
                          .settles = device_->tensor_warm_up_s() > 0,
                          .seed = seed_,
                          .stop = stop};
  const auto& [first, second] = contenders;
  if (!duel.cold()) return time_duel(*device_, first.rotation, second.rotation, limits);
  return time_cold_duel(*device_, first.rotation.front(), second.rotation.front(), limits);
}

// A technique against itself shares one plan: a duel of one choice with another, which a second
// tuning may make, would measure the tuning.
std::array<Duelist::Contender, 2> Duelist::prepare(DuelRecord& record, const DuelCase& duel) {
  std::array<Contender, 2> contenders{
      Contender{&duel.first, nullptr, &record.first, &checks_[0]},
      Contender{&duel.second, nullptr, &record.second, &checks_[1]}};
  for (Contender& contender : contenders) {
    const Implementation& implementation = *contender.c->implementation;
    const bool itself = &implementation == duel.first.implementation;
    if (itself && contenders[0].plan) {
      contender.plan = contenders[0].plan;
    } else if (implementation.prepare) {
      contender.plan = implementation.prepare(device_->queue(), contender.c->shape);
    }
    if (implementation.choice) contender.side->choice = implementation.choice(contender.plan);
  }
  return contenders;
}

std::vector<BufferSet> Duelist::bind(std::array<Contender, 2>& contenders, std::int64_t sets,
                                     std::int64_t later) {
  std::vector<BufferSet> all = buffers_.allocate(contenders[0].c->operands(), sets, later);
  for (Contender& contender : contenders) {
    contender.rotation.clear();
    for (const BufferSet& set : all) {
      contender.rotation.push_back(with_plan(
          contender.plan, contender.c->implementation->bind(device_->queue(), contender.plan,
                                                            contender.c->shape, set)));
    }
  }
  buffers_.reset();
  return all;
}

std::optional<std::string> Duelist::stray_write(const Contender& contender) {
  if (buffers_.guards_intact()) return std::nullopt;
  return fmt::format("{} wrote outside its output", contender.side->technique);
}

std::optional<std::string> Duelist::check_before(Contender& contender, const BufferSet& set) {
  buffers_.reset();
  device_->run(contender.rotation.front());
  const auto wrong =
      contender.check->before_timing(*contender.c, set, contender.side->verify.emplace());
  if (wrong) return fmt::format("{}: {}", contender.side->technique, *wrong);
  return stray_write(contender);
}

// The other technique wrote the outputs too, so this one writes poisoned ones again. The blocks
// that were timed may have left a stray write of either.
std::optional<std::string> Duelist::check_after(Contender& contender,
                                                std::span<const BufferSet> sets) {
  if (auto stray = stray_write(contender)) return stray;
  buffers_.reset();
  device_->run_each(contender.rotation);
  const auto wrong = contender.check->after_timing(*contender.c, sets, *contender.side->verify);
  if (wrong) return fmt::format("{}: {}", contender.side->technique, *wrong);
  return stray_write(contender);
}

// A slow technique would spend its time on one rotation.
std::int64_t Duelist::affordable_sets(const std::array<Contender, 2>& contenders, double seconds) {
  double launch_s = 0;
  for (const Contender& contender : contenders) {
    // Not by a batch: a device may keep a graph of the launches, whose buffers go.
    launch_s = std::max(launch_s, device_->queue().time(contender.rotation.front()));
  }
  constexpr double kFewestRotations = 7;
  return static_cast<std::int64_t>(
      std::clamp(seconds / (kFewestRotations * launch_s), 1.0, static_cast<double>(kMaxSets)));
}

}  // namespace ridgebench
