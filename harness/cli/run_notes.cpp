#include "harness/cli/run_notes.hpp"

#include <fmt/format.h>

#include <set>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/doctor/conditions.hpp"
#include "harness/results/outcome.hpp"
#include "harness/results/worn.hpp"

namespace ridgebench {
namespace {

// The user's variables are kept, although a library that is held back is not a yardstick.
void warn_of_held_back_libraries(const std::vector<Record>& records) {
  std::set<std::string> variables;
  for (const Record& record : records) {
    if (record.held_back_by && record.status == Status::ok) variables.insert(*record.held_back_by);
  }
  for (const std::string& names : variables) {
    write_error(fmt::format(
        "note: {} keeps a library from its best; the flag library_held_back marks its rows\n",
        printable(names)));
  }
}

void note_unknown_roofs(const std::vector<Record>& records, const std::string& said) {
  std::set<std::string> reasons;
  for (const Record& record : records) {
    if (record.roof_unknown && *record.roof_unknown != said) reasons.insert(*record.roof_unknown);
  }
  for (const std::string& reason : reasons) {
    write_error(fmt::format("note: {}; rows of matrix products have no share of a measured roof\n",
                            reason));
  }
}

}  // namespace

void list_tests(const RunPlan& plan) {
  for (const Case& c : plan.cases()) {
    if (c.implementation != nullptr) fmt::print("{}\n", c.id());
  }
}

void warn_of_budget(const RunPlan& plan, const std::optional<double>& budget_s) {
  constexpr double kTolerated = 1.1;
  const double shortest = plan.budget().shortest_s();
  if (!budget_s || shortest <= kTolerated * *budget_s) return;
  write_error(fmt::format(
      "note: --budget {:g} will be exceeded: the rows and their checks take about {:.1f} s\n",
      *budget_s, shortest));
}

void note_left_out(const RunPlan& plan) {
  if (plan.left_out() == 0) return;
  write_error(fmt::format(
      "note: this profile leaves out {} rows of matrix products and their ceilings, because a "
      "row takes seconds at a power limit; --profile standard has them, or a --filter\n",
      plan.left_out()));
}

void note_latest(const std::string& reason) {
  write_error(
      fmt::format("note: results/local/latest does not name this run: {}; once it is removed, the "
                  "next run makes the link\n",
                  reason));
}

void note_conditions(const ResultsDirectory& directory, const doctor::Findings& conditions) {
  const std::string text = doctor::text_of_conditions(conditions);
  if (!text.empty()) write_error(fmt::format("note: all rows are in doubt: {}\n", printable(text)));
  note_without_lock(directory);
}

void note_worn(const nlohmann::ordered_json& environment) {
  for (const std::string& text : recorded_worn(environment)) {
    write_error(fmt::format("note: all rows of the device are in doubt: {}\n", printable(text)));
  }
  for (const std::string& text : rare_link_errors(environment)) {
    write_error(fmt::format("note: {}\n", printable(text)));
  }
}

void note_without_lock(const ResultsDirectory& directory) {
  if (directory.is_locked()) return;
  write_error(
      fmt::format("note: the file system of {} has no locks: no other run is kept out of it\n",
                  printable(directory.given().string())));
}

ExitCode conclude(const std::vector<Record>& records, const std::string& folder,
                  const std::string& said) {
  warn_of_held_back_libraries(records);
  note_unknown_roofs(records, said);
  for (const std::string& line : unmeasured(records)) print_problem(line);
  write_error(fmt::format("results: {}\n", printable(folder)));
  return exit_code(records);
}

}  // namespace ridgebench
