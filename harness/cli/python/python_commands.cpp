#include "harness/cli/python/python_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "harness/base/child.hpp"
#include "harness/base/process.hpp"
#include "harness/base/python/python_package.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/python_command_table.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

constexpr double kLongestAnswerSeconds = 60;  // for an answer

// Replaces this process by a command. Returns if it cannot.
void become(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
}

}  // namespace

void list_python_commands(CLI::App& app) {
  for (const auto& [name, what] : kPythonCommands) {
    app.add_subcommand(std::string(name), std::string(what));
  }
}

bool is_python_command(std::string_view command) {
  return std::ranges::any_of(kPythonCommands,
                             [&](const auto& entry) { return entry.first == command; });
}

PythonOfCommands python_of_commands() {
  try {
    return {.interpreter = python_interpreter(find_python_package().own), .no_package = {}};
  } catch (const UsageError& error) {
    return {.interpreter = python_interpreter({}), .no_package = error.what()};
  }
}

std::string answer_of_python(const std::vector<std::string>& words) try {
  const std::vector<std::string> command = find_python_package().command(words);
  Child child([&](int descriptor) {
    answer_with_stdout(descriptor);
    become(command);
    _exit(1);
  });
  return child.wait(steady_s() + kLongestAnswerSeconds).text;
} catch (const UsageError&) {
  return {};
}

void run_python_command(int argc, char** argv) {
  const auto command = find_python_package().command({argv + 1, argv + argc});
  block_ending_signals();  // roofline/ridgebench/base/interruption.py unblocks them
  become(command);
  throw UsageError(fmt::format("cannot run {}: {}; `{}` {}", command.front(), std::strerror(errno),
                               argv[1], kNeedsPython));
}

}  // namespace ridgebench
