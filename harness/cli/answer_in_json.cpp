// The commands that compute, for a program that calls libridgebench.so: they answer in JSON and
// print nothing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "harness/cli/commands.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

std::string answer_in_json(std::vector<std::string> words) {
  CLI::App app;
  app.require_subcommand(1);
  add_predict_command(app);
  add_plan_command(app);
  add_info_command(app);
  app.get_subcommand("info")->get_option("--on")->required();  // without it, info opens devices
  Registry::instance().resolve();
  words.emplace_back("--json");
  std::ranges::reverse(words);  // CLI11 reads from the end
  const CapturedAnswer captured;
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(usage_text(app, error));
  }
  if (captured.text().empty()) {
    throw UsageError("the words have no answer in JSON; allowed: words without --help");
  }
  return captured.text();
}

}  // namespace ridgebench
