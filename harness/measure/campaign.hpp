// The measuring of a run: which cases, in which order, within which budget, and what becomes of
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

#include "harness/base/stopwatch.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/measurer.hpp"
#include "harness/measure/turns.hpp"
#include "harness/measure/watchdog.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Throws UsageError naming the mistake.
std::regex compile_filter(const std::string& filter);

// The cases of a request in the order in which they are measured: the ceilings that kernels need,
// then kernels in seeded random order, then controls.
class RunPlan {
 public:
  // Throws UsageError for a filter that is no regular expression or matches nothing.
  RunPlan(const RunRequest& request, const std::vector<std::unique_ptr<Device>>& devices,
          const std::function<bool(const Case&)>& have_ceiling);

  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
  // Seconds that case `index` may take when `elapsed` of the run have passed.
  [[nodiscard]] double share(std::size_t index, double elapsed) const;
  // Seconds that the whole plan takes at most, and bytes of the largest case.
  [[nodiscard]] double total_seconds() const;
  [[nodiscard]] double largest_footprint() const;

 private:
  std::vector<Case> cases_;
  double seconds_per_case_;
  std::optional<double> budget_;
};

// Measures the plan's cases one by one and keeps their records.
class Campaign final : private Turns {
 public:
  // `finished`: records of the run that is resumed. `ceilings`: an earlier run's.
  Campaign(RunPlan plan, Fill fill, std::uint64_t seed, ResultsDirectory& directory,
           std::vector<Record> finished, const std::vector<Record>& ceilings);

  [[nodiscard]] const std::vector<Case>& cases() const { return plan_.cases(); }

  // From now on, measures in turns with other processes.
  void take_turns();

  // Measures and appends; a case that is finished already is returned as it is. Throws Interrupted,
  // StorageError, and DeviceError after a record that says so.
  const Record& measure(std::size_t index);

  // In the order of measurement.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  double end_turn() override;
  [[noreturn]] void give_up_on_hung_case();

  RunPlan plan_;
  ResultsDirectory* directory_;
  std::map<const Device*, Measurer> measurers_;
  std::map<std::string, Record> finished_;
  std::vector<Record> records_;
  const Case* current_ = nullptr;
  Stopwatch clock_;
  std::chrono::duration<double> hang_limit_{};  // of the current case, or of a turn
  double others_s_ = 0;  // part of the clock's time: turns of other processes
  Watchdog watchdog_;    // last: its thread uses the members above
};

// Set by SIGINT and SIGTERM once listen_for_signals was called; a second signal ends the process.
void listen_for_signals();
bool signalled();

// Exit code of a finished run: that of its worst case.
ExitCode exit_code(const std::vector<Record>& records);

}  // namespace ridgebench
