#include "harness/results/measured_times.hpp"

#include <algorithm>
#include <vector>

#include "harness/results/measured_roofs.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

BestTimes best_times(const std::string& device, std::string_view operation, FormatPair format) {
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
    const bool counts = r.op == operation && r.format == format && r.role == Role::kernel &&
                        r.status == Status::ok && r.regime == Regime::steady && !r.burst && r.time;
    if (!counts || !measured_there(r)) continue;
    const auto [known, is_new] = best.try_emplace(r.shape.text(), r.time->median);
    if (!is_new) known->second = std::min(known->second, r.time->median);
  }
  return best;
}

}  // namespace ridgebench
