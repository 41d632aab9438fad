#include "harness/measure/measurer.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "harness/device/isolated/gpu/settle.hpp"
#include "harness/device/isolated/remote_launch.hpp"
#include "harness/device/own_work.hpp"
#include "harness/measure/failure.hpp"
#include "harness/measure/fingerprint.hpp"
#include "harness/measure/probing/probes.hpp"
#include "harness/measure/sampling/sustained.hpp"
#include "harness/measure/sampling/telemetry_scope.hpp"
#include "harness/measure/verifying/check_needs.hpp"
#include "harness/results/measured_roofs.hpp"

namespace ridgebench {
namespace {

// Smallest share of the multiprocessors that have a thread block in a full wave. The last few may
// have none, because clusters of thread blocks do not fit there.
constexpr double kSmallestWaveShare = 0.9;

// A ceiling of another resource than memory keeps its data in caches or registers.
bool rotates(const Case& c) {
  return c.regime == Regime::steady &&
         (!c.is_ceiling() || c.operation->ceiling->resource == Resource::memory);
}

}  // namespace

Measurer::Measurer(Device& device, Fill fill, std::uint64_t seed)
    : device_(&device),
      fill_(fill),
      seed_(seed),
      buffers_(device, fill, seed),
      check_(device, fill, seed) {}

void Measurer::add_ceiling(const Record& record) {
  if (const auto rate = ceiling_rate(record)) roofs_.add(*rate);
}

Record Measurer::described(const Case& c) const {
  Record record = c.describe();
  record.seed = seed_;
  record.fill = name(fill_);
  if (fill_ == Fill::zeros) record.flags.emplace_back(kZeroInputs);
  return record;
}

Record Measurer::measure(const Case& c, double seconds, const std::function<bool()>& stop) {
  sampling_s_ = 0;
  const std::optional<std::string> unsupported = unsupported_reason(c);
  // A case that cannot run may have no implementation.
  if (!unsupported) settle_isolation(*device_, *c.implementation);
  Record record = described(c);
  record.reason = unsupported;
  if (record.reason) return record;
  const bool shared = is_remote(*c.implementation);
  if (buffers_.shared() != shared) buffers_ = Buffers(*device_, fill_, seed_, shared);
  measure_or_fail(record, "case", [&] {
    const Problem problem = c.problem();
    try {
      run_phases(record, c, problem, seconds, stop);
    } catch (const OutOfMemory&) {
      // The case may fit without the references and buffers of earlier cases.
      if (!check_.forget_references() && !buffers_.in_the_way(problem.operands)) throw;
      buffers_ = Buffers(*device_, fill_, seed_, shared);
      check_.input_copies().clear();
      record = described(c);
      run_phases(record, c, problem, seconds, stop);
    }
  });
  if (c.is_ceiling() && !c.control) add_ceiling(record);
  return record;
}

void Measurer::run_phases(Record& record, const Case& c, const Problem& problem, double seconds,
                          const std::function<bool()>& stop) {
  TelemetryScope scope(*device_, record);
  require_room(buffers_, c, problem);
  BoundCase bound(c, problem, buffers_, check_);
  record.choice = bound.choice();
  if (const auto traffic = bound.traffic()) {
    record.model_l2_to_sm_bytes = traffic->l2_to_sm_bytes;
    record.model_dram_bytes = traffic->dram_bytes;
  }

  const std::int64_t wanted = rotates(c) ? buffers_.sets_to_rotate(problem.operands) : 1;
  const bool own = c.implementation->of_user();
  if (own) buffers_.forget_outputs();
  bind_cases(buffers_, {&bound, 1}, 1, wanted);
  std::vector<std::uint64_t> inputs;
  if (own) inputs = buffers_.checksums();
  auto wrong = bound.check_first(record.verify.emplace());
  if (wrong) return fail(record, Status::wrong, *wrong);

  const Affordable affordable = time_for_sets(bound.rotation().front(), wanted, seconds);
  record.sets = std::min(wanted, affordable.sets);
  if (record.sets > 1) bind_cases(buffers_, {&bound, 1}, record.sets);
  if (own) wrong = changed_input(inputs);
  if (wrong) return fail(record, Status::wrong, *wrong);
  if (rotates(c)) flag_rotation(record, problem);
  describe_launch(record, bound.rotation().front());

  Probes probes(*device_, buffers_, c, problem, bound.sets(), check_.seed_of(c),
                check_.input_copies());
  const Samples samples = sample(bound, probes, affordable.launches, seconds, stop);
  if (probes.work_goes_on(samples.seconds.back())) return fail(record, Status::wrong, kWorkGoesOn);
  scope.window = to_json(samples.window, problem.work);
  scope.load = samples.load;
  if (c.implementation->unit_times) scope.unit_times = c.implementation->unit_times(bound.plan());
  wrong = probes.seen();
  if (!wrong) wrong = bound.check_after(*record.verify, false);
  if (!wrong) wrong = probes.check(*record.verify);
  if (!wrong && own) wrong = changed_input(inputs);
  if (wrong) return fail(record, Status::wrong, *wrong);
  if (!c.technique.order_dependent) {
    record.fingerprint = fingerprint_of(device_->memory(), problem, bound.sets().front());
    scope.unit_fingerprints =
        unit_fingerprints_of(device_->memory(), problem, bound.sets().front());
    if (const auto odd = odd_units(scope.unit_fingerprints)) {
      return fail(record, Status::wrong, *odd);
    }
  }
  judge_samples(record, bound, samples);
  if (probes.few()) record.flags.emplace_back(kFewProbes);
  if (probes.fixed_answer()) record.flags.emplace_back(kFixedAnswer);
  if (record.time) doubt_time(record, seen_s(bound.rotation()));
}

void Measurer::flag_rotation(Record& record, const Problem& problem) const {
  if (buffers_.rotation_is_short(problem.operands, record.sets)) {
    record.flags.emplace_back(kShortRotation);
  }
  if (buffers_.caches_may_serve(problem.operands, record.sets)) {
    record.flags.emplace_back(kServedByCache);
  }
}

void Measurer::describe_launch(Record& record, const Launch& launch) {
  const Early early = device_->early(launch);
  record.early = early.early;
  if (!early.early) record.early_unknown = early.unknown;
  const double busy_share = device_->busy_share(launch).value_or(1);
  if (busy_share < kSmallestWaveShare) record.flags.emplace_back("below_one_wave");
}

std::optional<std::string> Measurer::changed_input(std::vector<std::uint64_t>& sums) {
  const std::vector<std::uint64_t> before = std::exchange(sums, buffers_.checksums());
  if (std::ranges::equal(before, std::span(sums).first(before.size()))) return std::nullopt;
  return "wrote to an input";
}

// A slow case would spend its share on one rotation. It gets the number of sets with which it can
// take kFewestSamples. A cache has little effect on a launch that takes so long. The fastest of
// some launches counts, because the system may interrupt one.
Measurer::Affordable Measurer::time_for_sets(const Launch& launch, std::int64_t wanted,
                                             double seconds) {
  constexpr std::int64_t kMostLaunches = 3;
  double fastest_s = std::numeric_limits<double>::infinity();
  double spent_s = 0;
  Affordable result{};
  do {
    const double launch_s = device_->time_batch({&launch, 1}, 1).seconds;
    OwnWork::note_return();
    spent_s += launch_s;
    fastest_s = std::min(fastest_s, launch_s);
    result.sets = affordable_sets(seconds, fastest_s);
    ++result.launches;
  } while (result.sets < wanted && result.launches < kMostLaunches && spent_s < seconds);
  return result;
}

Samples Measurer::sample(const BoundCase& bound, Probes& probes, std::int64_t launched,
                         double seconds, const std::function<bool()>& stop) {
  const Case& c = bound.row();
  const Engine engine = c.technique.engine;
  const SamplingLimits limits{
      .seconds = seconds,
      .warm_up_s = sustained_warm_up_s(c, seconds),
      .least_s = sustained_sampling_s(c),
      .most_s = longest_sampling_s(c),
      // time_for_sets() launched on set 0.
      .launched = bound.sets().size() == 1 ? launched : 0,
      // If a launch returns when its work is done, timing parts of a rotation is free.
      .divisible = !device_->asynchronous(),
      .inherited_cap = capped_engine_ && capped_engine_ != engine,
      .stop = stop,
      .probes = &probes,
      .turns = turns_};
  begin_claims(bound.rotation(), device_->asynchronous());
  const double start_s = device_->now_s();
  Samples samples = take_samples(*device_, bound.rotation(), c.regime, limits);
  sampling_s_ = std::min(device_->now_s() - start_s, seconds);
  capped_engine_ = samples.power_capped ? std::optional(engine) : std::nullopt;
  return samples;
}

void Measurer::judge_samples(Record& record, const BoundCase& bound, const Samples& samples) const {
  record.samples_s = samples.seconds;
  record.samples_per_batch = samples.samples_per_batch;
  record.launches_per_sample = samples.launches_per_sample;
  record.clocks_hz = samples.clocks_hz;
  record.clock_hz = samples.clock_hz;
  record.power_state = samples.power_state;
  record.time_mean_s = samples.window.busy_s / static_cast<double>(samples.window.launches);
  record.flags.insert(record.flags.end(), samples.flags.begin(), samples.flags.end());
  record.status = Status::ok;
  record.tick_s = device_->tick_s();
  record.time =
      summarize(samples.seconds, *record.tick_s / static_cast<double>(samples.launches_per_sample));
  if (const std::optional<Summary> cycles = record.cycles()) {
    record.cycles_median = cycles->median;
    record.cycles_ci_low = cycles->ci_low;
    record.cycles_ci_high = cycles->ci_high;
  }
  judge(record, bound.row(), bound.problem(), roofs_);
}

}  // namespace ridgebench
