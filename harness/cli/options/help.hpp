// The layout of --help: 80 columns, what most calls need first, examples last.
#pragma once

#include <CLI/CLI.hpp>

namespace ridgebench {

// Gives this layout to `app` and to all commands below it. --help leaves out the options that few
// calls need, and --help-all prints them.
void lay_out_help(CLI::App& app);

}  // namespace ridgebench
