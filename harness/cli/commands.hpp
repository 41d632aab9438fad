// The sub-commands of ridgebench. Each function adds one with its options. Its callback runs the
// command, prints to stdout (strict JSON with --json) and throws UsageError or DeviceError; it sets
// `code` to an exit code other than success where there is one.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {

void add_info_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_run_command(CLI::App& app, std::vector<std::string> command_line, ExitCode& code);
void add_predict_command(CLI::App& app);
// Five questions of resource accounting: train, memory, tensor, activations, zero.
void add_plan_command(CLI::App& app);
void add_verify_command(CLI::App& app, ExitCode& code);

// Prints "ridgebench: TEXT" as one line on stderr; control characters, which a file or a file's
// name may hold, become spaces.
void print_problem(std::string text);

// Runs a command line and returns the exit code; an error is one line on stderr.
int run_command_line(int argc, char** argv);

}  // namespace ridgebench
