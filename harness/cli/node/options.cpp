#include "harness/cli/node/options.hpp"

#include <fmt/format.h>

#include "harness/cli/node/measure_pass.hpp"
#include "harness/cli/number_option.hpp"

namespace ridgebench {

void add_node_options(CLI::App& command, NodeOptions& options, const node::NodeWork& work,
                      const std::vector<CLI::Option*>& excluded) {
  CLI::Option* concurrent = command.add_flag("--concurrent", options.concurrent, work.help);
  for (CLI::Option* option : excluded) concurrent->excludes(option);
  command
      .add_option("--hang-limit", options.hang_limit_s,
                  fmt::format("With --concurrent: seconds without a new {} after which a GPU "
                              "counts as hung",
                              work.line))
      ->needs(concurrent)
      ->transform(number_in(1e-3, 1e9, "a number of seconds from 0.001 to 1e9"));
  command.add_option(node::kTogether, options.together)->group("");
}

}  // namespace ridgebench
