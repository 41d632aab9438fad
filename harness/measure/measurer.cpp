#include "harness/measure/measurer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "harness/measure/injected_work.hpp"
#include "harness/measure/judge.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

ResultRow as_result(const Record& record) {
  return {.id = record.id,
          .op = record.op,
          .technique = record.technique,
          .device = record.device,
          .role = std::string(name(record.role)),
          .saturates =
              record.saturates ? std::optional(std::string(name(*record.saturates))) : std::nullopt,
          .engine = std::string(name(record.engine)),
          .format = record.format.name(),
          .arithmetic = record.arithmetic.name(),
          .accumulator = std::string(info(record.accumulator).name),
          .regime = std::string(name(record.regime)),
          .status = std::string(name(record.status)),
          .written_fraction = record.written_fraction,
          .flops_per_s = record.flops_per_s(),
          .bytes_per_s = record.bytes_per_s(),
          .mfu = record.mfu};
}

// Of a device's multiprocessors; clusters of thread blocks may leave the last few without work.
constexpr double kSmallestWaveShare = 0.9;

// A ceiling that saturates no memory has its data in caches or registers.
bool rotates(const Case& row) {
  return row.regime == Regime::steady &&
         (!row.is_ceiling() || row.operation->ceiling->resource == Resource::memory);
}

void fail(Record& record, Status status, std::string reason) {
  record.status = status;
  record.reason = std::move(reason);
}

// Where power settles slowly, a ceiling gives it half of its time to, up to 10 s: kernels are
// judged by what the device sustains.
double tensor_warm_up_s(const Case& row, double seconds) {
  constexpr double settled_s = 10;
  const double shortest = row.device->tensor_warm_up_s();
  if (!row.is_ceiling() || shortest == 0) return shortest;
  return std::max(shortest, std::min(settled_s, seconds / 2));
}

// What belongs to one row, for the device's telemetry, however it ends.
class RowScope {
 public:
  RowScope(Device& device, Record& record) : device_(&device), record_(&record) {
    device.begin_row(record.id);
  }
  RowScope(const RowScope&) = delete;  // ends what it began
  RowScope& operator=(const RowScope&) = delete;
  ~RowScope() {
    record_->telemetry = device_->end_row();
    record_->telemetry["window"] = std::move(window);
  }

  nlohmann::ordered_json window = nullptr;  // what the samples cost; null where there are none

 private:
  Device* device_;
  Record* record_;
};

}  // namespace

Measurer::Measurer(Device& device, Fill fill, std::uint64_t seed)
    : device_(&device),
      fill_(fill),
      seed_(seed),
      buffers_(device, fill, seed),
      check_(device, seed),
      injected_(injected_work()) {}

void Measurer::add_ceiling(const Record& record) { roofs_.add(as_result(record)); }

Record Measurer::described(const Case& row) const {
  Record record = row.describe();
  record.seed = seed_;
  record.fill = name(fill_);
  return record;
}

Record Measurer::measure(const Case& row, double seconds, const std::function<bool()>& stop) {
  Record record = described(row);
  if (row.implementation == nullptr) {
    record.reason = unsupported_reason(row);
    return record;
  }
  try {
    measure_with_room(record, row, seconds, stop);
  } catch (const Unsupported& reason) {
    fail(record, Status::skipped, reason.what());
  } catch (const OutOfMemory& reason) {
    fail(record, Status::skipped, reason.what());
  } catch (const std::bad_alloc&) {
    fail(record, Status::skipped, "the host has too little memory for it");
  } catch (const Interrupted&) {
    throw;
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& error) {
    fail(record, Status::failed, error.what());
  }
  if (row.is_ceiling() && !row.control) add_ceiling(record);
  return record;
}

void Measurer::measure_with_room(Record& record, const Case& row, double seconds,
                                 const std::function<bool()>& stop) {
  try {
    measure_into(record, row, seconds, stop);
  } catch (const OutOfMemory&) {
    if (!buffers_.in_the_way(row.operands())) throw;
    buffers_ = Buffers(*device_, fill_, seed_);
    record = described(row);
    measure_into(record, row, seconds, stop);
  }
}

void Measurer::measure_into(Record& record, const Case& row, double seconds,
                            const std::function<bool()>& stop) {
  RowScope scope(*device_, record);
  const Plan plan = prepare(row);
  const std::int64_t wanted = rotates(row) ? buffers_.sets_to_rotate(row.operands()) : 1;
  Bound bound = bind(row, plan, 1, wanted);
  device_->run(bound.rotation.front());
  record.verify.emplace();
  auto wrong = check_.before_timing(row, bound.sets.front(), *record.verify);
  if (!wrong) wrong = stray_write();  // before more sets are made, with new guards
  if (wrong) return fail(record, Status::wrong, *wrong);
  const std::uint64_t first_bits = check_.checksum(row, bound.sets.front());
  record.sets = std::min(wanted, affordable_sets(bound.rotation.front(), seconds));
  if (record.sets > 1) bound = bind(row, plan, record.sets);
  if (rotates(row) && buffers_.rotation_is_short(row.operands(), record.sets)) {
    record.flags.emplace_back("short_rotation");
  }

  const double busy_share = device_->busy_share(bound.rotation.front()).value_or(1);
  if (busy_share < kSmallestWaveShare) record.flags.emplace_back("below_one_wave");
  const SamplingLimits limits{
      .seconds = seconds,
      .warm_up_s = row.technique.engine == Engine::tensor ? tensor_warm_up_s(row, seconds) : 0,
      // What told how many sets are affordable was a launch on the first.
      .launched = record.sets == 1 ? 1 : 0,
      // A host's launch returns when its work is done. A batch with injected work is one sample:
      // work added to a few samples would not move their median.
      .divisible = device_->backend() == Backend::cpu && injected_.counted == 1,
      .stop = stop,
      .end_turn = end_turn_};
  add_work(record, row, bound);
  const Samples samples = take_samples(*device_, bound.rotation, row.regime, limits);
  scope.window = to_json(samples.window, row.work());
  wrong = check_.after_timing(row, bound.sets, *record.verify);
  if (!wrong) wrong = stray_write();
  if (!wrong && !row.technique.order_dependent &&
      check_.checksum(row, bound.sets.front()) != first_bits) {
    wrong = "a second launch gave other bits: the result moves";
  }
  if (wrong) return fail(record, Status::wrong, *wrong);
  finish(record, row, samples);
}

void Measurer::finish(Record& record, const Case& row, const Samples& samples) const {
  record.samples_s = samples.seconds;
  record.samples_per_batch = samples.samples_per_batch;
  record.launches_per_sample = samples.launches_per_sample;
  record.clock_hz = samples.clock_hz;
  record.flags.insert(record.flags.end(), samples.flags.begin(), samples.flags.end());
  record.status = Status::ok;
  record.time = summarize(samples.seconds,
                          device_->tick_s() / static_cast<double>(samples.launches_per_sample));
  judge(record, row, roofs_);
}

Plan Measurer::prepare(const Case& row) {
  if (const auto reason = row.implementation->unsupported(device_->machine(), row.shape)) {
    throw Unsupported(*reason);
  }
  const auto& prepare_plan = row.implementation->prepare;
  return prepare_plan ? prepare_plan(device_->queue(), row.shape) : nullptr;
}

std::optional<std::string> Measurer::stray_write() {
  if (buffers_.guards_intact()) return std::nullopt;
  return "wrote outside its output";
}

Measurer::Bound Measurer::bind(const Case& row, const Plan& plan, std::int64_t sets,
                               std::int64_t later) {
  Bound bound;
  bound.sets = buffers_.allocate(row.operands(), sets, later);
  bound.rotation.reserve(bound.sets.size());
  for (const BufferSet& set : bound.sets) {
    // The launch keeps what was prepared alive.
    bound.rotation.emplace_back([plan, launch = row.implementation->bind(
                                           device_->queue(), plan, row.shape, set)] { launch(); });
  }
  buffers_.poison();
  return bound;
}

// A slow row would spend its share on a single rotation: it gets as many sets as let it take the
// fewest samples. At such times a launch, not what a cache keeps of it, sets the pace.
std::int64_t Measurer::affordable_sets(const Launch& launch, double seconds) {
  const double launch_s = device_->time_batch({&launch, 1}, 1).seconds;
  return static_cast<std::int64_t>(
      std::clamp(seconds / (kFewestSamples * launch_s), 1.0, static_cast<double>(kMaxSets)));
}

void Measurer::add_work(Record& record, const Case& row, Bound& bound) const {
  if (row.is_ceiling()) return;            // what rows are judged by stays as it is
  if (row.regime == Regime::cold) return;  // timed alone: there is no batch to add work to
  bound.rotation = inject(bound.rotation, injected_);
  if (injected_.extra > 0) record.flags.emplace_back(kInjectedWorkFlag);
}

}  // namespace ridgebench
