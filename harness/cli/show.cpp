#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include "harness/base/printable.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/number_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/step/text.hpp"
#include "harness/cli/table.hpp"
#include "harness/results/explained/explained.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/results/worn.hpp"
#include "harness/step/step_record.hpp"
#include "kernels/common/error.hpp"

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
  for (const std::string& text : recorded_worn_in(run.folder)) {
    fmt::print("WORN: {}\n", printable(text));
  }
  std::fflush(stdout);  // before the same file by a stream
  print_table(std::cout, run.records, run.doubts, table_style(wants_color(STDOUT_FILENO)),
              explain(run).findings);
  std::cout.flush();
}

void print_steps(const std::string& folder, bool several) {
  if (several) fmt::print("{}\n", printable(folder));
  const std::vector<StepRecord> steps = read_steps(folder);
  if (steps.empty()) throw UsageError(folder + " holds no step: the command did not finish");
  for (const StepRecord& step : steps) fmt::print("{}", step_text(step, std::nullopt));
}

// Prints folders of steps. Returns false if there is none.
bool show_steps(const ShowOptions& options) {
  const auto steps = std::ranges::count_if(options.folders, holds_step);
  if (steps == 0) return false;
  if (options.json) {
    const std::string& first = *std::ranges::find_if(options.folders, holds_step);
    throw UsageError(fmt::format(
        "show --json: {} holds a step; allowed: folders of runs (the JSON of a step is {}/{})",
        first, first, kStepFile));
  }
  if (steps < std::ssize(options.folders)) {
    throw UsageError("show: some folders hold a step, and others do not; allowed: one kind");
  }
  for (const std::string& folder : options.folders) {
    print_steps(folder, options.folders.size() > 1);
  }
  return true;
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
  CLI::App* command = app.add_subcommand("show", "Show results under their measured roofs");
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
    if (show_steps(*options)) return;
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
