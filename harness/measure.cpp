#include "harness/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "harness/judge.hpp"
#include "harness/witness.hpp"
#include "kernels/common/error.hpp"

namespace ridgepoint {
namespace {

// A row is called wrong with this reason.
std::string wrong_reason(const Verification& v, const char* when) {
  return fmt::format("{} timing, the output differs from the reference by {:.3g} x the tolerance",
                     when, v.error);
}

ResultRow as_result(const Record& record) {
  return {.id = record.row.id,
          .op = record.row.op,
          .technique = record.row.technique,
          .device = record.row.device,
          .role = record.row.role,
          .saturates = record.row.saturates,
          .engine = record.row.engine,
          .format = record.row.format,
          .arithmetic = record.row.arithmetic,
          .accumulator = record.row.accumulator,
          .regime = record.row.regime,
          .status = std::string(name(record.status)),
          .written_fraction = record.row.written_fraction,
          .flops_per_s = record.flops_per_s(),
          .bytes_per_s = record.bytes_per_s(),
          .mfu = record.mfu};
}

// A ceiling that saturates no memory has its data in caches or registers.
bool rotates(const Row& row) {
  return row.regime == Regime::steady &&
         (!row.is_ceiling() || row.operation->ceiling->resource == Resource::memory);
}

void fail(Record& record, Status status, std::string reason) {
  record.status = status;
  record.reason = std::move(reason);
}

// Inputs of further buffer sets that are read back to be checked, bytes.
constexpr double kAffordableInputBytes = 0x1p30;

double bytes_read(std::span<const Operand> operands) {
  double sum = 0;
  for (const Operand& operand : operands) {
    if (operand.access == Access::read) sum += operand.bytes();
  }
  return sum;
}

DeviceMemory::Region region_of(const Operand& operand, void* data) {
  return {static_cast<std::byte*>(data), static_cast<std::size_t>(operand.bytes())};
}

// What belongs to one row, for the device's telemetry, however it ends.
class RowScope {
 public:
  RowScope(Device& device, Record& record) : device_(&device), record_(&record) {
    device.begin_row(record.row.id);
  }
  RowScope(const RowScope&) = delete;  // ends what it began
  RowScope& operator=(const RowScope&) = delete;
  ~RowScope() { record_->telemetry = device_->end_row(); }

 private:
  Device* device_;
  Record* record_;
};

}  // namespace

Measurer::Measurer(Device& device, Fill fill, std::uint64_t seed)
    : device_(&device), buffers_(device, fill, seed), seed_(seed) {}

void Measurer::add_ceiling(const Record& record) { roofs_.add(as_result(record)); }

Record Measurer::measure(const Row& row, double seconds, const std::function<bool()>& stop) {
  Record record;
  record.row = row.describe();
  if (row.implementation == nullptr) {
    record.reason = unsupported_reason(row);
    return record;
  }
  try {
    measure_into(record, row, seconds, stop);
  } catch (const Unsupported& reason) {
    fail(record, Status::skipped, reason.what());
  } catch (const OutOfMemory& reason) {
    fail(record, Status::skipped, reason.what());
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

void Measurer::measure_into(Record& record, const Row& row, double seconds,
                            const std::function<bool()>& stop) {
  const RowScope scope(*device_, record);
  Bound bound = bind(row);
  record.sets = static_cast<std::int64_t>(bound.sets.size());
  buffers_.poison();
  device_->run(bound.rotation.front());
  if (!check_before(record, row, bound)) return;
  const std::uint64_t first_bits = output_checksum(row, bound);
  shorten_rotation(record, row, bound, seconds);
  if (rotates(row) && buffers_.rotation_is_short(row.operands(), record.sets)) {
    record.flags.emplace_back("short_rotation");
  }

  SamplingLimits limits{.seconds = seconds, .stop = stop};
  if (row.technique.engine == Engine::tensor) limits.warm_up_s = device_->tensor_warm_up_s();
  const Samples samples = take_samples(*device_, bound.rotation, row.regime, row.work(), limits);
  if (!check_all(record, row, bound)) return;
  if (!row.technique.order_dependent && output_checksum(row, bound) != first_bits) {
    fail(record, Status::wrong, "a second launch gave other bits: the result moves");
    return;
  }
  record.samples_s = samples.seconds;
  record.launches_per_sample = samples.launches_per_sample;
  record.clock_hz = samples.clock_hz;
  record.flags.insert(record.flags.end(), samples.flags.begin(), samples.flags.end());
  record.status = Status::ok;
  record.time = summarize(samples.seconds,
                          device_->tick_s() / static_cast<double>(samples.launches_per_sample));
  judge(record, row, roofs_);
}

Measurer::Bound Measurer::bind(const Row& row) {
  const std::vector<Operand> operands = row.operands();
  Bound bound;
  bound.sets = buffers_.allocate(operands, rotates(row) ? buffers_.sets_to_rotate(operands) : 1);
  Queue& queue = device_->queue();
  const Implementation& technique = *row.implementation;
  const Plan plan = technique.prepare ? technique.prepare(queue, row.shape) : nullptr;
  for (const BufferSet& set : bound.sets) {
    // The launch keeps what was prepared alive.
    bound.rotation.emplace_back(
        [plan, launch = technique.bind(queue, plan, row.shape, set)] { launch(); });
  }
  return bound;
}

// A slow row would spend its share on a single rotation: it keeps as many sets as let it take the
// fewest samples. At such times a launch, not what a cache keeps of it, sets the pace.
void Measurer::shorten_rotation(Record& record, const Row& row, Bound& bound, double seconds) {
  const Launch& first = bound.rotation.front();
  const double launch_s = device_->time_batch({&first, 1}, 1, row.work()).seconds;
  const double affordable = std::max(1.0, seconds / (kFewestSamples * launch_s));
  if (affordable >= static_cast<double>(bound.sets.size())) return;
  bound.sets.resize(static_cast<std::size_t>(affordable));
  bound.rotation.resize(bound.sets.size());
  record.sets = static_cast<std::int64_t>(bound.sets.size());
}

// Expected values of output rows, from a copy of the inputs where they are not known yet.
const std::vector<Expected>& Measurer::reference(const Row& row, const Bound& bound,
                                                 std::size_t index,
                                                 std::span<const std::int64_t> rows) {
  const auto inputs = [&] {
    const std::vector<Operand> operands = row.operands();
    input_copies_.resize(std::max(input_copies_.size(), operands.size()));
    std::vector<View> views;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
      const DeviceMemory::Region region = region_of(operands[i], bound.sets[index][i]);
      views.push_back(
          {device_->memory().on_host({&region, 1}, input_copies_[i]), operands[i].format});
    }
    return views;
  };
  // Further sets share out what a check may cost, so that their rows depend on how many they are.
  const std::size_t sets = index == 0 ? 1 : bound.sets.size();
  const std::string key = fmt::format("{}/{}/{}/{} of {}", row.operation->name, row.format.name(),
                                      row.shape.text(), index, sets);
  return references_.get(key, *row.operation, row.shape, inputs, rows);
}

// The first set is checked thoroughly, against references that all techniques share; further sets
// divide what checking a row may cost.
Verification Measurer::check_set(const Row& row, const Bound& bound, std::size_t index) {
  const double share = index == 0 ? 1 : 1 / static_cast<double>(bound.sets.size());
  const auto rows = rows_to_check(*row.operation, row.shape, seed_, share);
  const Operand output = row.operands().back();
  void* const data = bound.sets[index].back();
  std::vector<DeviceMemory::Region> regions;
  for (const Slice& slice : slices_of(*row.implementation, row.shape, rows)) {
    const auto size = static_cast<std::size_t>(info(output.format).storage_bytes);
    regions.emplace_back(
        static_cast<std::byte*>(data) + static_cast<std::size_t>(slice.first) * size,
        static_cast<std::size_t>(slice.count) * size);
  }
  HostBuffer copy;
  const View sampled{device_->memory().on_host(regions, copy), output.format};
  Verification result =
      compare(*row.implementation, row.shape, sampled, rows, reference(row, bound, index, rows));
  // Everywhere: poisoned outputs hold NaN, and finite inputs never produce it.
  if (device_->memory().has_nan(data, output.elements, output.format)) {
    result.error = std::numeric_limits<double>::infinity();
    result.exact = false;
  }
  return result;
}

bool Measurer::check_before(Record& record, const Row& row, const Bound& bound) {
  record.verify = check_set(row, bound, 0);
  if (!record.verify->passed()) {
    fail(record, Status::wrong, wrong_reason(*record.verify, "before"));
    return false;
  }
  const Operand output = row.operands().back();
  if (device_->backend() == Backend::cpu || record.verify->elements == output.elements) return true;
  const auto rows = rows_to_check(*row.operation, row.shape, seed_);
  record.verify->witness =
      ask_witness(*device_, row, bound.sets.front(), rows, reference(row, bound, 0, rows));
  if (record.verify->witness && record.verify->witness->error > 1) {
    fail(record, Status::wrong,
         fmt::format("the output differs from that of {} by {:.3g} x the tolerance",
                     record.verify->witness->technique, record.verify->witness->error));
    return false;
  }
  return true;
}

// Every set after the timing: with the reference, but for sets whose inputs would take long to
// read; those must hold no NaN.
bool Measurer::check_all(Record& record, const Row& row, const Bound& bound) {
  const Operand output = row.operands().back();
  const double input_bytes = bytes_read(row.operands());
  const auto affordable =
      static_cast<std::size_t>(std::max(2.0, kAffordableInputBytes / std::max(1.0, input_bytes)));
  const std::size_t step = (bound.sets.size() + affordable - 1) / affordable;
  for (std::size_t i = 0; i < bound.sets.size(); ++i) {
    const bool last = i + 1 == bound.sets.size();
    if (i % step != 0 && !last) {
      if (!device_->memory().has_nan(bound.sets[i].back(), output.elements, output.format))
        continue;
      fail(record, Status::wrong, fmt::format("after timing, buffer set {} holds NaN", i));
      return false;
    }
    const Verification v = check_set(row, bound, i);
    record.verify->elements += v.elements;
    record.verify->exact = record.verify->exact && v.exact;
    if (v.error > record.verify->error) {
      record.verify->error = v.error;
      record.verify->tolerance = v.tolerance;
    }
    if (!v.passed()) {
      fail(record, Status::wrong, wrong_reason(v, "after"));
      return false;
    }
  }
  if (!buffers_.guards_intact()) {
    fail(record, Status::wrong, "wrote outside its output");
    return false;
  }
  return true;
}

std::uint64_t Measurer::output_checksum(const Row& row, const Bound& bound) {
  return device_->memory().checksum(region_of(row.operands().back(), bound.sets.front().back()));
}

}  // namespace ridgepoint
