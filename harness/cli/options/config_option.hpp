// --config FILE: options of a command from a file in TOML, as CLI11 reads it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace ridgebench {

// Options that a file gave to a command.
struct ConfiguredOptions {
  std::string file;
  std::vector<std::string> names;  // "--device"; a positional argument by its name

  // "; FILE sets --device", the end of an error; empty if no file set an option.
  [[nodiscard]] std::string note() const;
};

// Adds --config to every command below `app` that has options. A key is the name of an option
// without its dashes. Keys before the first section are options of the command that runs; a section
// names its command, [plan.train], and those of others are only checked. The command line wins over
// the file. What the file sets takes the place of --config in `command_line`: these words repeat
// the call without the file. Both `app` and `command_line` must outlive the parsing. Parsing throws
// CLI::FileError, whose text names file and key and what is allowed, for a file that cannot be read
// or is malformed, and for a key that is unknown or given twice.
std::shared_ptr<const ConfiguredOptions> add_config_options(CLI::App& app,
                                                            std::vector<std::string>& command_line);

}  // namespace ridgebench
