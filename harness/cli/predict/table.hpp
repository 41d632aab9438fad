// `ridgebench predict table`: all operations of the lecture on a device.
#pragma once

#include <CLI/CLI.hpp>

namespace ridgebench {

// Adds the sub-command to `predict`. Its callback throws UsageError.
void add_predict_table_command(CLI::App& predict);

}  // namespace ridgebench
