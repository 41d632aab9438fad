// Measures a plan into a results folder: what `run` and the C interface do once the cases are
// chosen.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/stopwatch.hpp"
#include "harness/cli/google_benchmark.hpp"
#include "harness/device/device.hpp"
#include "harness/measure/campaign.hpp"
#include "harness/results/environment.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

struct RunSettings {
  RunRequest request;
  std::filesystem::path folder;
  std::vector<std::string> command_line = {};
  // Command line of the process that goes on after a crash; empty: a crash ends the run.
  std::vector<std::string> after_a_crash = {};
  GoogleFlags flags = {};
  std::string junit = {};                  // file for the rows as JUnit's XML; empty: none
  std::vector<Record> ceilings = {};       // of an earlier run, with their controls
  std::string roofs_unknown = {};          // why that run's ceilings must not judge this run
  nlohmann::ordered_json more_facts = {};  // further keys of environment.json; null: none
  bool resume = false;                     // the folder holds the beginning of the run
  bool retry = false;                      // also measure its failed and suspect rows again
  bool take_turns = false;                 // with other processes
  int together = 0;                        // processes that begin at the same time; 0: this one
  bool plot = false;                       // also print the roofline, on a terminal
  double spent_s = 0;                      // of the budget, before a crash
};

// Measures all cases, prints the table, the roofline and the notes, and leaves the folder complete.
// The budget counts from the start of `clock`. Throws UsageError, StorageError, Interrupted and
// DeviceError.
ExitCode measure_plan(RunPlan plan, const RunSettings& settings,
                      const std::vector<std::unique_ptr<Device>>& devices, const Stopwatch& clock);

}  // namespace ridgebench
