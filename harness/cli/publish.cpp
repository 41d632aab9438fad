// Signs a results folder, or the folder of a node or a fleet, that `verify` calls sound.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/base/printable.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/verify.hpp"
#include "harness/results/verify/results_tree.hpp"
#include "harness/results/verify/signature.hpp"

namespace ridgebench {
namespace {

struct PublishOptions {
  std::string directory;
  std::string key;
};

ExitCode publish_folder(const PublishOptions& options) {
  const auto [problems, wrong] = check_results(options.directory);
  for (const std::string& problem : problems) print_problem(problem);
  if (!problems.empty()) {
    print_problem(options.directory + " is not signed: only sound results are");
    return ExitCode::row_failed;
  }
  if (is_results_tree(options.directory)) {
    write_sums_of_tree(options.directory);
  } else {
    write_sums(options.directory, signed_files(options.directory));
  }
  sign_results(options.directory, options.key);
  const SignatureCheck made = check_signature(options.directory, "");
  fmt::print("{}/{}: {}\n", printable(options.directory), kSignatureFile,
             printable(made.problem ? *made.problem : made.note.value_or("")));
  for (const std::string& line : wrong) fmt::print("{}\n", printable(line));
  for (const std::string& said : findings_of_results(options.directory)) fmt::print("{}\n", said);
  return made.problem ? ExitCode::row_failed : ExitCode::fine;
}

}  // namespace

void add_publish_command(CLI::App& app, ExitCode& code) {
  CLI::App* command = app.add_subcommand("publish", "Sign sound results with a key of OpenSSH");
  const auto options = std::make_shared<PublishOptions>();
  command->add_option("directory", options->directory, kSoundFolderHelp)
      ->required()
      ->check(not_empty())
      ->type_name("DIR");
  command
      ->add_option("--key", options->key,
                   "Private key, or the public key of one that ssh-agent holds")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command->footer(
      "Writes SHA256SUMS.sig, which `verify DIR --signers FILE` checks. Exit codes: 0 signed, 2 "
      "the "
      "key cannot sign, 6 the results are not sound.");
  command->callback([options, &code] { code = publish_folder(*options); });
}

}  // namespace ridgebench
