#include "harness/results/measured_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/common/error.hpp"

namespace ridgebench {

void keep_best(BestTimes& best, const Shape& shape, const MeasuredTime& time) {
  const auto [known, is_new] = best.try_emplace(shape.text(), time);
  if (!is_new && time.seconds < known->second.seconds) known->second = time;
}

MeasuredTimes::MeasuredTimes(const std::string& device) : results_(results_of(device)) {
  if (!results_) return;
  if (holds_step(results_->directory)) {
    steps_ = read_step_rows(results_->directory);
    return;
  }
  records_ = read_records(results_->directory);
  std::set<std::string> devices{results_->device};
  if (results_->device.empty()) {
    for (const Record& ceiling : records_) {
      if (ceiling_rate(ceiling)) devices.insert(ceiling.device);
    }
  }
  std::erase_if(records_, [&](const Record& r) {
    return r.role != Role::kernel || !devices.contains(r.device);
  });
}

// The dimensions of a row may be in any order.
Shape MeasuredTimes::shape_of(const Shape& shape, const Operation& operation,
                              const std::string& row) const {
  try {
    return parse_shape(shape.text(), operation);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", results_->directory, row, error.what()));
  }
}

BestTimes MeasuredTimes::best(const Operation& operation, FormatPair format) const {
  BestTimes best;
  for (const Record& r : records_) {
    const bool counts = r.op == operation.name && r.format == format && r.status == Status::ok &&
                        r.regime == Regime::steady && !r.burst && r.time;
    if (counts)
      keep_best(best, shape_of(r.shape, operation, r.id), {r.time->median, r.power_state});
  }
  for (const StepRows& step : steps_) {
    const bool counts = step.status == Status::ok && FormatPair(step.format) == format &&
                        (results_->device.empty() || step.device == results_->device);
    if (!counts) continue;
    for (const StepPart& part : step.parts) {
      if (part.operation != operation.name || part.served_by_cache) continue;
      keep_best(best, shape_of(part.shape, operation, part.name),
                {part.time_s / static_cast<double>(part.launches)});  // the mean of a launch
    }
  }
  return best;
}

}  // namespace ridgebench
