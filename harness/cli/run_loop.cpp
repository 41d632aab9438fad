#include "harness/cli/run_loop.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <optional>
#include <string_view>

#include "harness/base/printable.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/table.hpp"

namespace ridgebench {
namespace {

// Shows the last case and the time left in one line of stderr, if stderr is a terminal that can
// erase a line.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total) {}
  Progress(const Progress&) = delete;  // the destructor clears the line
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (shown_) write_error(kClear);
  }

  void update(std::size_t done, const std::string& what) {
    const std::optional<Terminal> terminal = terminal_of(STDERR_FILENO);  // its width may change
    if (!terminal || !terminal->escapes) return;
    constexpr std::size_t width = 24;
    const double left =
        clock_.seconds() / static_cast<double>(done) * static_cast<double>(total_ - done);
    const std::string bar(width * done / total_, '#');
    const std::string line = fmt::format("[{:<{}}] {}/{} cases, {:.0f} s left  {}", bar, width,
                                         done, total_, left, printable(what));
    // A line that fills the last column would wrap on some terminals.
    const auto columns = static_cast<std::size_t>(terminal->columns - 1);
    write_error(fmt::format("{}{}", kClear, line.substr(0, columns)));
    shown_ = true;
  }

 private:
  static constexpr std::string_view kClear = "\r\x1b[K";

  std::size_t total_;
  bool shown_ = false;
  Stopwatch clock_;
};

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
void report(const std::vector<Record>& records, const ResultsDirectory& directory,
            const GoogleFlags& flags) {
  if (flags.format == "console") {
    print_table(std::cout, records, table_style(flags));
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
    report(campaign.records(), directory, flags);
    throw;
  }
  report(campaign.records(), directory, flags);
}

}  // namespace ridgebench
