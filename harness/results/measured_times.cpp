#include "harness/results/measured_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/results/measured_roofs.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

namespace {

// The dimensions of a record may stand in any order.
Shape shape_of(const Record& r, const Operation& operation, const std::string& directory) {
  try {
    return parse_shape(r.shape.text(), operation);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}: {}", directory, r.id, error.what()));
  }
}

}  // namespace

BestTimes best_times(const std::string& device, const Operation& operation, FormatPair format) {
  const auto results = results_of(device);
  if (!results) return {};
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
    const Shape shape = shape_of(r, operation, results->directory);
    const auto [known, is_new] = best.try_emplace(shape.text(), r.time->median);
    if (!is_new) known->second = std::min(known->second, r.time->median);
  }
  return best;
}

}  // namespace ridgebench
