#include "harness/cli/run_loop.hpp"

#include <unistd.h>

#include <fstream>
#include <iostream>

#include "harness/base/terminal.hpp"
#include "harness/cli/run/progress.hpp"
#include "harness/cli/table.hpp"

namespace ridgebench {
namespace {

void measure_all(Campaign& campaign) {
  const std::size_t total = campaign.cases().size();
  Progress progress(total);
  for (std::size_t i = 0; i < total; ++i) progress.update(i + 1, campaign.measure(i).id);
}

// Writes in place: the path may be a device such as /dev/stdout, which must not be replaced.
void write_copy(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw StorageError("cannot write " + path);
}

TableStyle table_style(const GoogleFlags& flags) {
  TableStyle style{.color =
                       flags.color == "auto" ? wants_color(STDOUT_FILENO) : flags.color == "true"};
  if (const auto terminal = terminal_of(STDOUT_FILENO)) style.columns = terminal->columns;
  return style;
}

// Prints before it writes files, so that the user sees the results even if the disk is full.
void report(const Campaign& campaign, const ResultsDirectory& directory, const GoogleFlags& flags) {
  const std::vector<Record>& records = campaign.records();
  if (flags.format == "console") {
    print_table(std::cout, records, campaign.doubts(), table_style(flags));
  } else {
    std::cout << google_report(records, flags.format);
  }
  std::cout.flush();
  // Google Benchmark's tools cannot compare rows that were skipped; records.jsonl holds them.
  std::vector<Record> measured = records;
  std::erase_if(measured, [](const Record& record) { return record.status == Status::skipped; });
  write_atomically(directory.path() / "benchmark.json", google_report(measured, "json"));
  if (!flags.out.empty()) write_copy(flags.out, google_report(records, flags.out_format));
}

}  // namespace

void run_cases(Campaign& campaign, const ResultsDirectory& directory, const GoogleFlags& flags) {
  try {
    measure_all(campaign);
  } catch (...) {
    report(campaign, directory, flags);
    throw;
  }
  report(campaign, directory, flags);
}

}  // namespace ridgebench
