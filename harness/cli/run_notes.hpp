// What `run` prints beside its table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/campaign.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Prints the cases, their bytes and their time for --dry-run.
void print_dry_run(const RunPlan& plan);

// Prints the ids for --benchmark_list_tests.
void list_tests(const RunPlan& plan);

// Tells the user before the run that the budget is too small for the rows.
void warn_of_budget(const RunPlan& plan, const std::optional<double>& budget_s);

// Tells the user before the run which rows the quick profile leaves out.
void note_left_out(const RunPlan& plan);

// Prints notes on finished records and the folder that holds them. Returns the run's exit code.
ExitCode conclude(const std::vector<Record>& records, const std::string& folder);

}  // namespace ridgebench
