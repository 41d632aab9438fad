// Completion scripts of both shells, from one tree of commands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/cli/completion/command_tree.hpp"

namespace ridgebench {

// A command and the words that lead to it: "", "run", "plan train".
struct PlacedCommand {
  std::string place;
  const Command* command;
};

// Returns the root, which is placed at "", and all commands below it.
std::vector<PlacedCommand> placed_commands(const Command& root);

// Returns the help up to its first semicolon or the end of its first sentence: a line of a menu.
std::string short_help(const std::string& help);

// Returns the text in single quotes, as bash and zsh read it.
std::string quoted(const std::string& text);

// How bash or zsh sets variables to the words that a place allows.
struct ShellWriter {
  std::function<std::string(const Command&)> command;
  std::function<std::string(const CommandOption&)> value;
};

// Returns the functions of both shells, which differ in the variables that they set:
// _ridgebench_is_command PLACE, _ridgebench_command PLACE, and _ridgebench_value "PLACE OPTION",
// which fails where the option takes no value.
std::string shell_functions(const Command& root, const ShellWriter& writer);

std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);

}  // namespace ridgebench
