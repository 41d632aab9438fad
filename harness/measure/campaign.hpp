// The measuring of a run: which rows, in which order, within which budget, and what becomes of
// their records.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "harness/results/environment.hpp"
#include "harness/measure/measurer.hpp"
#include "harness/results/results_directory.hpp"
#include "harness/measure/case.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/measure/watchdog.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Throws UsageError naming the mistake.
std::regex compile_filter(const std::string& filter);

// The rows of a request in the order in which they are measured: ceilings that they need, then rows
// in seeded random order, then control rows.
class RunPlan {
 public:
  // Throws UsageError for a filter that is no regular expression or matches nothing.
  RunPlan(const RunRequest& request, const std::vector<std::unique_ptr<Device>>& devices,
          const std::function<bool(const Case&)>& have_ceiling);

  [[nodiscard]] const std::vector<Case>& rows() const { return rows_; }
  // Seconds that row `index` may take when `elapsed` of the run have passed.
  [[nodiscard]] double share(std::size_t index, double elapsed) const;
  // Seconds that the whole plan takes at most, and bytes of the largest row.
  [[nodiscard]] double total_seconds() const;
  [[nodiscard]] double largest_footprint() const;

 private:
  std::vector<Case> rows_;
  double seconds_per_row_;
  std::optional<double> budget_;
};

// Measures the plan's rows one by one, when asked, and keeps their records.
class Campaign {
 public:
  // `finished`: records of the run that is resumed. `ceilings`: an earlier run's.
  Campaign(RunPlan plan, Fill fill, std::uint64_t seed, ResultsDirectory& directory,
           std::vector<Record> finished, const std::vector<Record>& ceilings);
  Campaign(const Campaign&) = delete;  // its watchdog points to it
  Campaign& operator=(const Campaign&) = delete;
  ~Campaign();

  [[nodiscard]] const std::vector<Case>& rows() const { return plan_.rows(); }

  // Measures in turns with another process; see turns.hpp.
  void take_turns();

  // Measures and appends; a row that is finished already is returned as it is. Throws Interrupted,
  // StorageError, and DeviceError after a record that says so.
  const Record& measure(std::size_t index);

  // In the order of measurement.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  [[noreturn]] void give_up_on_hung_row();

  RunPlan plan_;
  ResultsDirectory* directory_;
  std::map<const Device*, Measurer> measurers_;
  std::map<std::string, Record> finished_;
  std::vector<Record> records_;
  const Case* current_ = nullptr;
  Stopwatch clock_;
  std::chrono::duration<double> hang_limit_{};  // of the current row, or of a turn
  double others_s_ = 0;  // of the clock's, those that other processes had in their turns
  std::unique_ptr<Watchdog> watchdog_;
};

// Set by SIGINT and SIGTERM once listen_for_signals was called; a second signal ends the process.
void listen_for_signals();
bool signalled();

// Exit code of a finished run: the worst of its rows.
ExitCode exit_code(const std::vector<Record>& records);

}  // namespace ridgebench
