#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/table.hpp"
#include "harness/results/judged/judged.hpp"

namespace ridgebench {
namespace {

struct ShowOptions {
  std::vector<std::string> folders;
  std::vector<std::string> sheets;
  bool json = false;
};

void print_run(const JudgedRun& run, bool several) {
  if (several) fmt::print("{}\n", printable(run.folder));
  if (run.unfinished) fmt::print("UNFINISHED: {}\n", *run.unfinished);
  std::fflush(stdout);  // before the same file by a stream
  print_table(std::cout, run.records, run.doubts, table_style(wants_color(STDOUT_FILENO)));
  std::cout.flush();
}

void refuse_words(const ShowOptions& options) {
  if (!options.json && !options.sheets.empty()) {
    throw UsageError("show --on needs --json; allowed: show DIR..., or show --json");
  }
  if (options.folders.empty() && options.sheets.empty()) {
    throw UsageError(
        "show: a results folder is missing; allowed: show DIR..., or --json --on SHEET");
  }
}

}  // namespace

void add_show_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("show", "Show the rows of results folders under their measured roofs");
  const auto options = std::make_shared<ShowOptions>();
  command->add_option("directories", options->folders, "Results folders")
      ->check(not_empty())
      ->type_name("DIR");
  command
      ->add_option("--on", options->sheets,
                   "With --json: also the roofs of a data sheet, by name or file; may be given "
                   "several times")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("SHEET");
  command->add_flag("--json", options->json, "Print strict JSON");
  command->callback([options] {
    refuse_words(*options);
    JudgedDocument document;
    for (const std::string& sheet : options->sheets) {
      document.sheets.push_back(judged_sheet(sheet));
    }
    for (const std::string& folder : options->folders) document.runs.push_back(judge(folder));
    if (options->json) {
      fmt::print("{}\n", json_text(to_json(document)));
      return;
    }
    for (const JudgedRun& run : document.runs) print_run(run, document.runs.size() > 1);
  });
}

}  // namespace ridgebench
