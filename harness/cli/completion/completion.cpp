// `ridgebench completion SHELL`: a script about all commands, from their help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cli/completion/command_tree.hpp"
#include "harness/cli/completion/shells.hpp"

namespace ridgebench {

void add_completion_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script with which a shell completes ridgebench");
  command->require_subcommand(1);
  const auto add = [&](const char* shell, std::string (*script)(const Command&),
                       const char* where) {
    command->add_subcommand(shell, where)->callback([&app, script] {
      fmt::print("{}", script(command_tree(app)));
    });
  };
  add("bash", bash_completion, "Print the script of bash, which `source` reads");
  add("zsh", zsh_completion, "Print the script of zsh, the file _ridgebench in a folder of fpath");
}

}  // namespace ridgebench
