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

namespace {

// The text of a refusal. CLI11 writes "--on: 1 required SHEET missing" for an option without its
// value, and "--layers: At Most 1 required but received 2" for one that is given twice.
std::string plain_text(const CLI::ParseError& error) {
  std::string text = error.what();  // is moved into the answer
  const std::string option = text.substr(0, text.find(": "));
  static constexpr std::string_view kTwice = ": At Most 1 required but received ";
  if (error.get_name() != "ArgumentMismatch") return text;
  if (text.ends_with(" missing")) return option + " needs a value";
  if (!text.substr(option.size()).starts_with(kTwice)) return text;
  return fmt::format("{} is given {} times; allowed: once", option,
                     text.substr(option.size() + kTwice.size()));
}

}  // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path;  // "plan train "
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().back();
    path += command->get_name() + " ";
  }
  const auto commands = command->get_subcommands(nullptr);
  if (command->get_require_subcommand_min() == 0) {
    return fmt::format("{}; `ridgebench {}--help` lists what is allowed", plain_text(error), path);
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
