#include "harness/cli/run_loop.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "harness/base/stopwatch.hpp"
#include "harness/cli/table.hpp"

namespace ridgebench {
namespace {

// Shows the last case and the time left in one line of stderr, if stderr is a terminal.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total) {}
  Progress(const Progress&) = delete;  // the destructor clears the line
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (terminal_) fmt::print(stderr, "\r\x1b[K");
  }

  void update(std::size_t done, const std::string& what) const {
    if (!terminal_) return;
    constexpr std::size_t width = 24;
    const double left =
        clock_.seconds() / static_cast<double>(done) * static_cast<double>(total_ - done);
    const std::string bar(width * done / total_, '#');
    fmt::print(stderr, "\r\x1b[K[{:<{}}] {}/{} cases, {:.0f} s left  {:.60}", bar, width, done,
               total_, left, what);
    std::fflush(stderr);
  }

 private:
  std::size_t total_;
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  Stopwatch clock_;
};

void measure_all(Campaign& campaign) {
  const std::size_t total = campaign.cases().size();
  const Progress progress(total);
  for (std::size_t i = 0; i < total; ++i) progress.update(i + 1, campaign.measure(i).id);
}

// Writes in place: the path may be a device such as /dev/stdout, which must not be replaced.
void write_copy(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw StorageError("cannot write " + path);
}

// Prints before it writes files, so that the user sees the results even if the disk is full.
void report(const std::vector<Record>& records, const ResultsDirectory& directory,
            const GoogleFlags& flags) {
  if (flags.format == "console") {
    print_table(std::cout, records);
  } else {
    std::cout << google_report(records, flags.format);
  }
  std::cout.flush();
  // Google Benchmark's tools cannot compare records without a time; records.jsonl holds them.
  std::vector<Record> timed = records;
  std::erase_if(timed, [](const Record& record) { return !record.time; });
  write_atomically(directory.path() / "benchmark.json", google_report(timed, "json"));
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
