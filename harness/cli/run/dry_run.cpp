#include "harness/cli/run/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/measure/verifying/check_needs.hpp"
#include "harness/results/outcome.hpp"
#include "roofline/nullable.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

// The record that the run would keep, without what it would measure.
Record planned(const Case& c) {
  Record record = c.describe();
  record.reason = unsupported_reason(c);
  if (!record.reason) {
    record.reason = lacks_memory(c);
    if (record.reason) record.flags.emplace_back(kOutOfMemoryFlag);
  }
  record.status = record.reason ? Status::skipped : Status::ok;
  return record;
}

double check_bytes(const Case& c) { return c.implementation == nullptr ? 0 : check_needs(c).bytes; }

void print_lines(const RunPlan& plan, const std::vector<Record>& records) {
  std::size_t skipped = 0;
  double largest = 0;
  double largest_check = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Case& c = plan.cases()[i];
    const double bytes = Buffers::footprint(c.operands(), 1);
    const auto& reason = records[i].reason;
    fmt::print("{:<80} {:.0f} bytes{}\n", records[i].id, bytes,
               reason ? "; skipped: " + printable(*reason) : "");
    if (reason) {
      ++skipped;
    } else {
      largest = std::max(largest, bytes);
      largest_check = std::max(largest_check, check_bytes(c));
    }
  }
  fmt::print(
      "{}{}, about {:.0f} s, {:.0f} bytes for the largest buffer set, {:.0f} bytes for the "
      "largest check\n",
      counted(records.size(), "case"),
      skipped > 0 ? fmt::format(", {} of them skipped", skipped) : "", plan.budget().total_s(),
      largest, largest_check);
}

void print_json(const RunPlan& plan, const std::vector<Record>& records) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Case& c = plan.cases()[i];
    cases.push_back({{"id", records[i].id},
                     {"role", name(records[i].role)},
                     {"buffer_bytes", Buffers::footprint(c.operands(), 1)},
                     {"check_bytes", check_bytes(c)},
                     {"workspace_bytes", workspace_bytes(c)},
                     {"skipped", nullable(records[i].reason)}});
  }
  print_answer("dry_run", {{"cases", cases}, {"duration_s", plan.budget().total_s()}});
}

}  // namespace

ExitCode print_dry_run(const RunPlan& plan, bool json) {
  std::vector<Record> records;
  for (const Case& c : plan.cases()) records.push_back(planned(c));
  json ? print_json(plan, records) : print_lines(plan, records);
  for (const std::string& line : unmeasured(records)) print_problem(line);
  return exit_code(records);
}

}  // namespace ridgebench
