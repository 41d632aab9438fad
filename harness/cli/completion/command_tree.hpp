// All commands with their options, as completion scripts need them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ridgebench {

struct CommandOption {
  std::vector<std::string> names;  // "-o", "--out"; of a positional argument its one name
  bool positional = false;
  std::string type;  // "FILE", "FORMAT"; empty: a flag
  std::string help;
  std::vector<std::string> values;  // the ones that the program lists
  bool files = false;               // the name of a file or folder may be given

  [[nodiscard]] bool takes_value() const { return !type.empty(); }
};

struct Command {
  std::string name;
  std::string help;
  std::vector<CommandOption> options;
  std::vector<Command> commands;
};

// Returns the tree below `app` without hidden options. Asks Python for the options of its commands;
// where it does not answer, they have none, and a note on stderr says so.
Command command_tree(const CLI::App& app);

}  // namespace ridgebench
