#include "harness/results/measured_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/results/measured_roofs.hpp"
#include "harness/results/record.hpp"
#include "harness/results/step_rows.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

namespace {

// The dimensions of a row may stand in any order.
Shape shape_of(const Shape& shape, const Operation& operation, const std::string& directory,
               const std::string& row) {
  try {
    return parse_shape(shape.text(), operation);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", directory, row, error.what()));
  }
}

void keep_best(BestTimes& best, const Shape& shape, double seconds) {
  const auto [known, is_new] = best.try_emplace(shape.text(), seconds);
  if (!is_new) known->second = std::min(known->second, seconds);
}

// The mean time of a launch in each part of a step. A part that caches may serve is left out: in
// the step it takes longer.
BestTimes times_of_parts(const ResultsOfDevice& results, const Operation& operation,
                         FormatPair format) {
  BestTimes best;
  for (const StepRows& step : read_step_rows(results.directory)) {
    const bool counts = step.status == Status::ok && FormatPair(step.format) == format &&
                        (results.device.empty() || step.device == results.device);
    if (!counts) continue;
    for (const StepPart& part : step.parts) {
      if (part.operation != operation.name || part.served_by_cache) continue;
      keep_best(best, shape_of(part.shape, operation, results.directory, part.name),
                part.time_s / static_cast<double>(part.launches));
    }
  }
  return best;
}

}  // namespace

BestTimes best_times(const std::string& device, const Operation& operation, FormatPair format) {
  const auto results = results_of(device);
  if (!results) return {};
  if (holds_step(results->directory)) return times_of_parts(*results, operation, format);
  const std::vector<Record> records = read_records(results->directory);
  const auto measured_there = [&](const Record& r) {
    if (!results->device.empty()) return r.device == results->device;
    return std::ranges::any_of(records, [&](const Record& ceiling) {
      return ceiling.device == r.device && ceiling_rate(ceiling).has_value();
    });
  };
  BestTimes best;
  for (const Record& r : records) {
    const bool counts = r.op == operation.name && r.format == format && r.role == Role::kernel &&
                        r.status == Status::ok && r.regime == Regime::steady && !r.burst && r.time;
    if (!counts || !measured_there(r)) continue;
    keep_best(best, shape_of(r.shape, operation, results->directory, r.id), r.time->median);
  }
  return best;
}

}  // namespace ridgebench
