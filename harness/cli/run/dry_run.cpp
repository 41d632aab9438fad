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

// Plan of a case: its record without measured values, and bytes.
struct PlannedCase {
  Record record;
  double buffer_bytes;
  double check_bytes;
  double workspace_bytes;
};

PlannedCase planned(const Case& c) {
  const Problem problem = c.problem();
  PlannedCase result{.record = c.describe(),
                     .buffer_bytes = Buffers::footprint(problem.operands, 1),
                     .check_bytes = c.implementation == nullptr ? 0 : check_needs(c, problem).bytes,
                     .workspace_bytes = workspace_bytes(c)};
  Record& record = result.record;
  record.reason = unsupported_reason(c);
  if (!record.reason) {
    record.reason = lacks_memory(c, problem);
    if (record.reason) record.flags.emplace_back(kOutOfMemoryFlag);
  }
  record.status = record.reason ? Status::skipped : Status::ok;
  return result;
}

void print_lines(const RunPlan& plan, const std::vector<PlannedCase>& cases) {
  std::size_t skipped = 0;
  double largest = 0;
  double largest_check = 0;
  for (const PlannedCase& c : cases) {
    const auto& reason = c.record.reason;
    fmt::print("{:<80} {:.0f} bytes{}\n", c.record.id, c.buffer_bytes,
               reason ? "; skipped: " + printable(*reason) : "");
    if (reason) {
      ++skipped;
    } else {
      largest = std::max(largest, c.buffer_bytes);
      largest_check = std::max(largest_check, c.check_bytes);
    }
  }
  fmt::print(
      "{}{}, about {:.0f} s, {:.0f} bytes for the largest buffer set, {:.0f} bytes for the "
      "largest check\n",
      counted(cases.size(), "case"),
      skipped > 0 ? fmt::format(", {} of them skipped", skipped) : "", plan.budget().total_s(),
      largest, largest_check);
}

void print_json(const RunPlan& plan, const std::vector<PlannedCase>& cases,
                const nlohmann::ordered_json& environment) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PlannedCase& c : cases) {
    rows.push_back({{"id", c.record.id},
                    {"role", name(c.record.role)},
                    {"buffer_bytes", c.buffer_bytes},
                    {"check_bytes", c.check_bytes},
                    {"workspace_bytes", c.workspace_bytes},
                    {"skipped", nullable(c.record.reason)}});
  }
  print_answer(
      "dry_run",
      {{"cases", rows}, {"duration_s", plan.budget().total_s()}, {"environment", environment}});
}

}  // namespace

ExitCode print_dry_run(const RunPlan& plan,
                       const std::optional<nlohmann::ordered_json>& environment) {
  std::vector<PlannedCase> cases;
  std::vector<Record> records;
  for (const Case& c : plan.cases()) {
    cases.push_back(planned(c));
    records.push_back(cases.back().record);
  }
  environment ? print_json(plan, cases, *environment) : print_lines(plan, cases);
  for (const std::string& line : unmeasured(records)) print_problem(line);
  return exit_code(records);
}

}  // namespace ridgebench
