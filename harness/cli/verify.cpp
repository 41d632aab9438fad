#include "harness/cli/verify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/results/record.hpp"
#include "harness/results/step_rows.hpp"
#include "harness/results/verify/signature.hpp"
#include "harness/results/verify/verify_duels.hpp"
#include "harness/results/verify/verify_results.hpp"
#include "harness/results/worn.hpp"
#include "harness/step/verify_step.hpp"

namespace ridgebench {

std::vector<std::string> problems_of_results(const std::string& directory) {
  if (holds_duels(directory)) return verify_duels(directory);
  return holds_step(directory) ? verify_step(directory) : verify_results(directory);
}

namespace {

struct VerifyOptions {
  std::string directory;
  std::string signers;
};

ExitCode verify_folder(const VerifyOptions& options) {
  const std::string& directory = options.directory;
  const std::vector<std::string> problems = problems_of_results(directory);
  for (const std::string& problem : problems) print_problem(problem);
  const SignatureCheck signature = check_signature(directory, options.signers);
  if (signature.problem) print_problem(*signature.problem);
  if (!problems.empty() || signature.problem) return ExitCode::row_failed;
  const bool rows = !holds_duels(directory) && !holds_step(directory);
  const auto foreign =
      rows ? std::ranges::count(read_records(directory), Origin::external, &Record::origin) : 0;
  fmt::print("{}: sound{}\n", printable(directory),
             foreign == 0 ? "" : fmt::format("; {} external rows, unverified", foreign));
  if (signature.note) fmt::print("{}: {}\n", printable(directory), printable(*signature.note));
  for (const std::string& text : recorded_worn_in(directory)) {
    fmt::print("{}: {}\n", printable(directory), printable(text));
  }
  return ExitCode::fine;
}

}  // namespace

void add_verify_command(CLI::App& app, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("verify", "Check files, arithmetic and physics of results");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("directory", options->directory, "Results folder")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--signers", options->signers,
                   "File of allowed signers, one of whom must have signed (ssh-keygen(1))")
      ->check(not_empty())
      ->type_name("FILE");
  command->callback([options, &code] { code = verify_folder(*options); });
}

}  // namespace ridgebench
