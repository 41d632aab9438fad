// The messages of a refused command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"

namespace ridgebench {

void print_problem(std::string_view text) {
  write_error(fmt::format("ridgebench: {}\n", printable(text)));
}

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path;  // "plan train "
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().back();
    path += command->get_name() + " ";
  }
  const auto commands = command->get_subcommands(nullptr);
  if (command->get_require_subcommand_min() == 0) {
    return fmt::format("{}; `ridgebench {}--help` lists what is allowed", error.what(), path);
  }
  std::string allowed;
  for (const CLI::App* one : commands) {
    allowed += (allowed.empty() ? "" : ", ") + one->get_name();
  }
  const std::vector<std::string> unknown = command->remaining();
  if (!unknown.empty() && unknown.front().starts_with("--benchmark_")) {
    return fmt::format("{} is a flag of `run`: ridgebench run {}", unknown.front(),
                       unknown.front());
  }
  if (!path.empty()) path.back() = ':';
  const std::string where = path.empty() ? "" : path + " ";
  return unknown.empty() ? fmt::format("{}a command is missing; allowed: {}", where, allowed)
                         : fmt::format("{}unknown command or flag '{}'; allowed: {}", where,
                                       unknown.front(), allowed);
}

}  // namespace ridgebench
