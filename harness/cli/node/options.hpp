// The options of `run` and `soak` that belong to --concurrent.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <vector>

#include "harness/cli/node/node_run.hpp"

namespace ridgebench {

struct NodeOptions {
  bool concurrent = false;
  std::optional<double> hang_limit_s;
  int together = 0;  // of a process that --concurrent starts: how many begin with it
};

// Adds them to the command that does this work. --concurrent excludes the others. `options` must
// outlive the command.
void add_node_options(CLI::App& command, NodeOptions& options, const node::NodeWork& work,
                      const std::vector<CLI::Option*>& excluded);

}  // namespace ridgebench
