#include "harness/results/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ridgebench {
namespace {

bool skipped(const Record& record) { return record.status == Status::skipped; }

bool lacked_memory(const Record& record) {
  return skipped(record) && record.flagged(kOutOfMemoryFlag);
}

// The rows that the run is for: ceilings serve kernels where there are any.
std::vector<const Record*> wanted(std::span<const Record> records) {
  const bool kernels = std::ranges::any_of(
      records, [](const Record& record) { return record.role == Role::kernel; });
  std::vector<const Record*> rows;
  for (const Record& record : records) {
    if (!kernels || record.role == Role::kernel) rows.push_back(&record);
  }
  return rows;
}

}  // namespace

std::vector<std::string> unmeasured(std::span<const Record> records) {
  std::vector<std::string> lines;
  const std::vector<const Record*> rows = wanted(records);
  const auto none = [](const auto& all) {
    return !all.empty() && std::ranges::all_of(all, [](const Record* r) { return skipped(*r); });
  };
  if (none(rows)) {
    lines.push_back(fmt::format("no row could be measured: {}", rows.front()->reason.value_or("")));
  }
  std::map<std::string, std::vector<const Record*>> operations;
  for (const Record& record : records) operations[record.op].push_back(&record);
  for (const auto& [operation, of_operation] : operations) {
    if (!none(of_operation)) continue;
    const auto lacking =
        std::ranges::find_if(of_operation, [](const Record* r) { return lacked_memory(*r); });
    if (lacking == of_operation.end()) continue;
    lines.push_back(fmt::format("no row of {} fits into the memory: {}", operation,
                                (*lacking)->reason.value_or("")));
  }
  return lines;
}

ExitCode exit_code(std::span<const Record> records) {
  const bool bad =
      std::ranges::any_of(records, [](const Record& record) { return went_wrong(record.status); });
  return bad || !unmeasured(records).empty() ? ExitCode::row_failed : ExitCode::fine;
}

}  // namespace ridgebench
