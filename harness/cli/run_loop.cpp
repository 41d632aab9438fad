#include "harness/cli/run_loop.hpp"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "harness/base/terminal.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/run/progress.hpp"
#include "harness/cli/table.hpp"
#include "harness/results/explained/explained.hpp"
#include "harness/results/junit.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {
namespace {

void measure_all(Campaign& campaign) {
  const std::size_t total = campaign.cases().size();
  Progress progress(total);
  for (std::size_t i = 0; i < total; ++i) progress.update(i + 1, campaign.measure(i).id);
}

// The rows, and those that a run which ended early did not come to: for JUnit, whose readers take a
// missing case for one that does not exist.
std::vector<Record> planned_rows(const Campaign& campaign) {
  std::vector<Record> rows = campaign.records();
  for (std::size_t i = rows.size(); i < campaign.cases().size(); ++i) {
    rows.push_back(campaign.cases()[i].describe());
    rows.back().status = Status::skipped;
    rows.back().reason = "not measured: the run ended early";
  }
  return rows;
}

// The judgement that `show` prints of the same folder. A run that ended early has none, and one
// whose folder is gone: the table still holds its rows.
std::optional<JudgedRun> judged(const Campaign& campaign, const ResultsDirectory& directory) try {
  if (campaign.records().size() != campaign.cases().size()) return std::nullopt;
  const std::string folder = directory.path().string();
  const auto standing_of = [&](std::span<const Record> rows) {
    Standing standing = read_standing(folder, rows);
    standing.why_unfinished.reset();  // environment.json gets its end later
    standing.doubts_recorded = true;
    standing.doubts = campaign.doubts();
    return standing;
  };
  return judge(folder, campaign.records(), standing_of);
} catch (const UsageError&) {
  return std::nullopt;
}

// The run in at most three sentences.
std::vector<std::string> findings_of(const std::optional<JudgedRun>& run) {
  return run ? explain(*run).findings : std::vector<std::string>();
}

void print_json_rows(const Campaign& campaign, const ResultsDirectory& directory) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Record& record : campaign.records()) rows.push_back(to_json(record));
  print_answer("run", {{"folder", directory.path().string()},
                       {"findings", findings_of(judged(campaign, directory))},
                       {"rows", std::move(rows)}});
}

// Prints before it writes files, so that the user sees the results even if the disk is full.
void report(const Campaign& campaign, const ResultsDirectory& directory, const GoogleFlags& flags,
            const std::string& junit) {
  const std::vector<Record>& records = campaign.records();
  if (flags.format == "console") {
    const bool color = flags.color == "auto" ? wants_color(STDOUT_FILENO) : flags.color == "true";
    const std::optional<JudgedRun> run = judged(campaign, directory);
    print_table(std::cout, run ? run->records : records, run ? run->doubts : campaign.doubts(),
                table_style(color), findings_of(run));
  } else if (flags.format == kRowsFormat) {
    print_json_rows(campaign, directory);
  } else {
    std::cout << google_report(records, flags.format);
  }
  std::cout.flush();
  write_atomically(directory.path() / kReportFile, report_of_rows(records));
  if (!junit.empty()) write_named(junit, junit_xml(planned_rows(campaign), campaign.doubts()));
  if (!flags.out.empty()) write_named(flags.out, google_report(records, flags.out_format));
}

}  // namespace

void run_cases(Campaign& campaign, const ResultsDirectory& directory, const GoogleFlags& flags,
               const std::string& junit) {
  try {
    measure_all(campaign);
  } catch (...) {
    report(campaign, directory, flags, junit);
    throw;
  }
  report(campaign, directory, flags, junit);
}

}  // namespace ridgebench
