// Notes that `run` prints beside its table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli/doctor/finding.hpp"
#include "harness/measure/campaign.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Prints the ids for --benchmark_list_tests.
void list_tests(const RunPlan& plan);

// Tells the user before the run that the budget is too small for the rows.
void warn_of_budget(const RunPlan& plan, const std::optional<double>& budget_s);

// Tells the user before the run which rows the quick profile leaves out.
void note_left_out(const RunPlan& plan);

// Tells the user that results/local/latest still names something else.
void note_latest(const std::string& reason);

// Tells the user before the run what may falsify all its rows, and that the folder has no lock.
void note_conditions(const ResultsDirectory& directory, const doctor::Findings& conditions);
// Tells the user at the end which devices counted faults, by the conditions of environment.json.
void note_worn(const nlohmann::ordered_json& environment);
// The second part of note_conditions(), for other commands.
void note_without_lock(const ResultsDirectory& directory);

// Prints notes on finished records and the folder that holds them. Returns the run's exit code. The
// user has read `said` before: why rows have no roof.
ExitCode conclude(const std::vector<Record>& records, const std::string& folder,
                  const std::string& said = {});

}  // namespace ridgebench
