// The commands that the Python package implements. The binary replaces itself by Python for them,
// as git does for its external commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ridgebench {

// Adds the commands to the help and to the list of what is allowed.
void list_python_commands(CLI::App& app);

bool is_python_command(std::string_view command);

// The interpreter that runs the commands, and why they have no package; empty if they have one.
struct PythonOfCommands {
  std::string interpreter;
  std::string no_package;
};
PythonOfCommands python_of_commands();

// Runs the command argv[1] of the Python package, with the arguments after it, in place of this
// process. Throws UsageError without a package or an interpreter.
[[noreturn]] void run_python_command(int argc, char** argv);

// Returns what such a command prints on stdout; empty without a package or an interpreter.
std::string answer_of_python(const std::vector<std::string>& words);

}  // namespace ridgebench
