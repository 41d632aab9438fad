#include "harness/measure/duel/duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/stopwatch.hpp"
#include "harness/device/isolated/gpu/settle.hpp"
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

// The reason of a duel from that of one of its techniques.
std::string reason_of_side(const DuelSide& side, const std::string& wrong) {
  return fmt::format("{}{} {}", side.technique, wrong == kStrayWrite ? "" : ":", wrong);
}

}  // namespace

DuelMeasurer::DuelMeasurer(Device& device, Fill fill, std::uint64_t seed)
    : device_(&device),
      fill_(fill),
      seed_(seed),
      buffers_(device, fill, seed),
      checks_{OutputCheck(device, fill, seed), OutputCheck(device, fill, seed)} {}

DuelRecord DuelMeasurer::measure(const DuelCase& duel, const std::function<bool()>& stop) {
  const Stopwatch clock;
  DuelRecord record = duel.describe();
  record.seed = seed_;
  record.fill = name(fill_);
  record.reason = duel.unsupported();
  if (record.reason) return record;
  for (const Case* const side : {&duel.first, &duel.second}) {
    settle_isolation(*device_, *side->implementation);
  }
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

void DuelMeasurer::run_phases(DuelRecord& record, const DuelCase& duel,
                              const std::function<bool()>& stop) {
  const DuelTelemetry scope(*device_, record);
  const Problem problem = duel.first.problem();
  require_room(buffers_, duel.first, problem, workspace_bytes(duel.second));
  BoundPair pair = prepare(record, duel, problem);
  const std::array<DuelSide*, 2> sides{&record.first, &record.second};
  const std::int64_t wanted = duel.cold() ? 1 : buffers_.sets_to_rotate(problem.operands);
  bind_cases(buffers_, pair, 1, wanted);
  for (std::size_t i = 0; i < pair.size(); ++i) {
    if (const auto wrong = check_first(pair[i], *sides[i])) {
      return fail(record, Status::wrong, reason_of_side(*sides[i], *wrong));
    }
  }
  // A slow technique would spend its time on one rotation.
  record.sets = std::min(wanted, affordable_sets(duel.seconds, slowest_launch_s(pair)));
  if (record.sets > 1) bind_cases(buffers_, pair, record.sets);
  if (!duel.cold() && buffers_.rotation_is_short(problem.operands, record.sets)) {
    record.flags.emplace_back(kShortRotation);
  }
  for (const BoundCase& bound : pair) begin_claims(bound.rotation(), device_->asynchronous());
  DuelTimes times = timed(pair, duel, stop);
  const bool watched = !device_->energy_readings(0).empty();
  for (std::size_t i = 0; i < pair.size(); ++i) {
    // The other technique wrote the outputs too.
    if (const auto wrong = pair[i].check_after(*sides[i]->verify, true)) {
      return fail(record, Status::wrong, reason_of_side(*sides[i], *wrong));
    }
  }
  add_energy(record, times.long_scale, watched);
  add_times(record, std::move(times));
  record.status = Status::ok;
  doubt_claims(record, pair);
}

// One claim that is not believed takes the ratios of both techniques.
void DuelMeasurer::doubt_claims(DuelRecord& record, const BoundPair& pair) {
  for (std::size_t i = 0; i < pair.size(); ++i) {
    const DuelSide& side = i == 0 ? record.first : record.second;
    if (!side.time_s) continue;
    const auto doubt = doubted_claim(*side.time_s, seen_s(pair[i].rotation()));
    if (!doubt) continue;
    fail(record, Status::suspect, fmt::format("{}: {}", side.technique, *doubt));
    return record.withhold_ratios();
  }
}

DuelTimes DuelMeasurer::timed(const BoundPair& pair, const DuelCase& duel,
                              const std::function<bool()>& stop) {
  const bool tensor = duel.first.technique.engine == Engine::tensor;
  const double warm_up_s = tensor ? device_->tensor_warm_up_s() : 0;
  const DuelLimits limits{.seconds = duel.seconds,
                          .warm_up_s = std::max(warm_up_s, std::min(kWarmUp_s, duel.seconds / 20)),
                          .settles = device_->tensor_warm_up_s() > 0,
                          .seed = seed_,
                          .stop = stop};
  const auto& [first, second] = pair;
  if (!duel.cold()) return time_duel(*device_, first.rotation(), second.rotation(), limits);
  return time_cold_duel(*device_, first.rotation().front(), second.rotation().front(), limits);
}

// A technique against itself shares one plan: a duel of one choice with another, which a second
// tuning may make, would measure the tuning.
DuelMeasurer::BoundPair DuelMeasurer::prepare(DuelRecord& record, const DuelCase& duel,
                                              const Problem& problem) {
  BoundCase first(duel.first, problem, buffers_, checks_[0]);
  record.first.choice = first.choice();
  const bool itself = duel.first.implementation == duel.second.implementation;
  BoundCase second(duel.second, problem, buffers_, checks_[1], itself ? first.plan() : nullptr);
  record.second.choice = second.choice();
  return {std::move(first), std::move(second)};
}

std::optional<std::string> DuelMeasurer::check_first(BoundCase& bound, DuelSide& side) {
  buffers_.reset();  // the other technique may have launched
  if (auto wrong = bound.check_first(side.verify.emplace())) return wrong;
  const bool cold = bound.row().regime == Regime::cold;
  const Early alone{.early = false, .unknown = {}};
  const Early early = cold ? alone : device_->early(bound.rotation().front());
  side.early = early.early;
  if (!early.early) side.early_unknown = early.unknown;
  return std::nullopt;
}

double DuelMeasurer::slowest_launch_s(const BoundPair& pair) {
  double slowest_s = 0;
  for (const BoundCase& bound : pair) {
    // Not by a batch: a device may keep a graph of the launches, whose buffers go.
    slowest_s = std::max(slowest_s, device_->queue().time(bound.rotation().front()));
  }
  return slowest_s;
}

}  // namespace ridgebench
