#include "harness/cli/completion/shells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ridgebench {
namespace {

void place(std::vector<PlacedCommand>& placed, const std::string& where, const Command& command) {
  placed.push_back({where, &command});
  for (const Command& one : command.commands) {
    place(placed, where + (where.empty() ? "" : " ") + one.name, one);
  }
}

// "  'run --on'|...) VARIABLES ;;"
std::string cases_of_values(const PlacedCommand& placed, const ShellWriter& writer) {
  std::string text;
  for (const CommandOption& option : placed.command->options) {
    if (option.positional || !option.takes_value()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(quoted(placed.place + ' ' + name));
    }
    text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), writer.value(option));
  }
  return text;
}

}  // namespace

std::vector<PlacedCommand> placed_commands(const Command& root) {
  std::vector<PlacedCommand> placed;
  place(placed, "", root);
  return placed;
}

std::string short_help(const std::string& help) {
  return help.substr(0, std::min(help.find(';'), help.find(". ")));
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string shell_functions(const Command& root, const ShellWriter& writer) {
  std::vector<std::string> places;
  std::string commands;
  std::string values;
  for (const PlacedCommand& placed : placed_commands(root)) {
    if (!placed.place.empty()) places.push_back(quoted(placed.place));
    commands +=
        fmt::format("    {}) {} ;;\n", quoted(placed.place), writer.command(*placed.command));
    values += cases_of_values(placed, writer);
  }
  return fmt::format(
      "_ridgebench_is_command() {{\n  case $1 in\n    {}) ;;\n    *) return 1 ;;\n  esac\n}}\n\n"
      "_ridgebench_command() {{\n  case $1 in\n{}  esac\n}}\n\n"
      "_ridgebench_value() {{\n  case $1 in\n{}    *) return 1 ;;\n  esac\n}}\n",
      fmt::join(places, "|"), commands, values);
}

}  // namespace ridgebench
