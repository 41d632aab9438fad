#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/results/record.hpp"
#include "harness/results/step_rows.hpp"
#include "harness/results/verify/verify_duels.hpp"
#include "harness/results/verify/verify_results.hpp"
#include "harness/step/verify_step.hpp"

namespace ridgebench {

void add_verify_command(CLI::App& app, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("verify", "Check files, arithmetic and physics of results");
  const auto directory = std::make_shared<std::string>();
  command->add_option("directory", *directory, "Results folder")->required()->type_name("DIR");
  command->callback([directory, &code] {
    const bool duels = holds_duels(*directory);
    const bool step = !duels && holds_step(*directory);
    const std::vector<std::string> problems = duels  ? verify_duels(*directory)
                                              : step ? verify_step(*directory)
                                                     : verify_results(*directory);
    for (const std::string& problem : problems) print_problem(problem);
    if (!problems.empty()) {
      code = ExitCode::row_failed;
      return;
    }
    const auto foreign = duels || step ? 0
                                       : std::ranges::count(read_records(*directory),
                                                            Origin::external, &Record::origin);
    fmt::print("{}: sound{}\n", printable(*directory),
               foreign == 0 ? "" : fmt::format("; {} external rows, unverified", foreign));
  });
}

}  // namespace ridgebench
