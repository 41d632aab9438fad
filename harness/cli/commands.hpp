// Each function adds one sub-command of ridgebench with its options. The callback runs the command
// and prints to stdout (strict JSON with --json). It throws UsageError or DeviceError, and it sets
// `code` if the exit code is not success. `command_line` is what environment.json records; it is
// complete once the command line was read.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ridgebench {

inline constexpr const char* kFilterHelp =
    "Regular expression on ids (RE2); after a leading minus, the ids that do not match";
inline constexpr const char* kNoEarlyHelp =
    "Hand-written kernels never start before the one ahead has ended";

void add_doctor_command(CLI::App& app, ExitCode& code);
void add_info_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_run_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code);
void add_duel_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code);
void add_step_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code);
void add_soak_command(CLI::App& app, const std::vector<std::string>& command_line, ExitCode& code);
void add_predict_command(CLI::App& app);
void add_plan_command(CLI::App& app);
void add_number_command(CLI::App& app);
void add_show_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_verify_command(CLI::App& app, ExitCode& code);
void add_publish_command(CLI::App& app, ExitCode& code);
// These print texts about all commands of `app`, which must outlive them.
void add_completion_command(CLI::App& app);

// The exit code and the text of what ended a command.
struct CommandFailure {
  ExitCode code;
  std::string text;
};
CommandFailure command_failure(const std::exception_ptr& exception);

// Prints "ridgebench: TEXT" as one printable line on stderr.
void print_problem(std::string_view text);

// Adds what is allowed to CLI11's message, which says what was wrong.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

// Returns what `ridgebench WORDS --json` prints, for predict, plan, and info with --on: commands
// that compute and open no device. Throws UsageError with the line that the command prints.
std::string answer_in_json(std::vector<std::string> words);

// Runs a command line and returns the exit code. Prints an error as one line on stderr.
int run_command_line(int argc, char** argv);

}  // namespace ridgebench
