// The commands of `ridgebench step`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/step/measure_step.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// The options that all kinds of steps have.
struct StepOptions {
  StepRequest request;
  std::string format;
  std::vector<std::string> techniques;
  std::string device;
  std::string out;
  std::string ceilings;  // results folder of a run; empty: the step measures them
  bool dry_run = false;
  bool json = false;
};

// Adds them to a command, after its own options.
void add_step_options(CLI::App& command, StepOptions& options);

// The format of --format. Throws UsageError.
Format format_of(const StepOptions& options);

// Measures the step of `options.request.plan` on the device, prints it and keeps it in a results
// folder; with --dry-run prints its memory and its FLOPs. Throws UsageError.
ExitCode run_step(const StepOptions& options, const std::vector<std::string>& command_line);

// Each adds its kind of step to the command `step`.
void add_step_train_command(CLI::App& step, const std::vector<std::string>& command_line,
                            ExitCode& code);
void add_step_decode_command(CLI::App& step, const std::vector<std::string>& command_line,
                             ExitCode& code);

// The help of each kind ends with this text.
inline constexpr const char* kStepFooter =
    "Each launch is verified before the timing. Exit codes: 0 measured, 2 usage, 3 interrupted, 6 "
    "a "
    "launch is wrong or failed, or the memory is too small, 7 no device.";

}  // namespace ridgebench
