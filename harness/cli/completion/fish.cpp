// Fish: one line for each command, option and argument, with the condition that it is its turn.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "harness/cli/completion/shells.hpp"

namespace ridgebench {
namespace {

// In single quotes of fish, a backslash escapes itself and the quote.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// " -a 'x y'" and what says whether files are completed too.
std::string values_of(const CommandOption& option) {
  std::string text = option.files ? " -F" : "";
  if (!option.values.empty()) {
    text += " -a " + fish_quoted(fmt::format("{}", fmt::join(option.values, " ")));
  }
  return text;
}

std::string line_of(const std::string& condition, const CommandOption& option) {
  if (option.positional) {
    const std::string values = values_of(option);
    return values.empty() ? "" : fmt::format("{}{}\n", condition, values);
  }
  std::string text = condition;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    text += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  if (option.takes_value()) text += (option.files ? " -r" : " -x") + values_of(option);
  return fmt::format("{} -d {}\n", text, fish_quoted(short_help(option.help)));
}

}  // namespace

std::string fish_completion(const Command& root) {
  std::string places;
  std::string lines;
  for (const PlacedCommand& placed : placed_commands(root)) {
    if (!placed.place.empty()) places += ' ' + fish_quoted(placed.place);
    const std::string condition =
        fmt::format("complete -c ridgebench -n '__ridgebench_at \"{}\"'", placed.place);
    for (const Command& one : placed.command->commands) {
      lines +=
          fmt::format("{} -a {} -d {}\n", condition, one.name, fish_quoted(short_help(one.help)));
    }
    for (const CommandOption& option : placed.command->options) lines += line_of(condition, option);
  }
  return fmt::format(
      "# Fish completion of ridgebench, printed by `ridgebench completion fish`.\n\n"
      "# Whether the words so far lead to this command.\n"
      "function __ridgebench_at\n"
      "  set -l place\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    set -l next (string trim -- \"$place $word\")\n"
      "    contains -- $next{}; and set place $next\n"
      "  end\n"
      "  test \"$place\" = \"$argv[1]\"\n"
      "end\n\n"
      "complete -c ridgebench -f\n{}",
      places, lines);
}

}  // namespace ridgebench
