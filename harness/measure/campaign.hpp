// A campaign chooses the cases of a run, their order and their time, and keeps their records.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/stopwatch.hpp"
#include "harness/measure/budget.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/judging/second_looks.hpp"
#include "harness/measure/measurer.hpp"
#include "harness/measure/signals.hpp"
#include "harness/measure/turns.hpp"
#include "harness/measure/watchdog.hpp"
#include "harness/results/doubts.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/results_directory.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// The cases of a request in the order of measurement: the ceilings that kernels need, the kernels
// in seeded random order, and the controls.
class RunPlan {
 public:
  // Throws UsageError if the filter is not a regular expression or matches no case.
  RunPlan(const RunRequest& request, const std::vector<std::unique_ptr<Device>>& devices,
          const std::function<bool(const Case&)>& have_ceiling);

  [[nodiscard]] const std::vector<Case>& cases() const { return chosen_.cases; }
  // Number of cases that the quick profile left out (left_out_of_quick).
  [[nodiscard]] std::size_t left_out() const { return chosen_.left_out; }
  [[nodiscard]] Budget& budget() { return budget_; }
  [[nodiscard]] const Budget& budget() const { return budget_; }

  struct Chosen {
    std::vector<Case> cases;
    std::size_t left_out = 0;
  };

 private:
  Chosen chosen_;
  Budget budget_;
};

// Measures the plan's cases one by one and keeps their records.
class Campaign final : private Turns {
 public:
  // `finished` are the records of the resumed run. `ceilings` come from an earlier run, with their
  // controls.
  Campaign(RunPlan plan, Fill fill, std::uint64_t seed, ResultsDirectory& directory,
           std::vector<Record> finished, const std::vector<Record>& ceilings);

  [[nodiscard]] const std::vector<Case>& cases() const { return plan_.cases(); }

  // Counts the budget from the start of another clock, such as that of the command.
  void count_from(const Stopwatch& clock) { clock_ = clock; }

  // Later rows record this reason for the missing share of a roof. Empty: no reason.
  void explain_missing_roofs(const std::string& why) { roofs_unknown_ = why; }

  // Makes later measurements take turns with other processes.
  void take_turns();
  // Counts time that the run took before this process, which leaves less of the budget.
  void count_spent(double seconds) { others_s_ -= seconds; }

  // Measures a case and appends its record. A finished case keeps its record. Throws Interrupted,
  // StorageError, and DeviceError after a record of the failure.
  const Record& measure(std::size_t index);

  // In the order of measurement.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

  // The rows so far that are in doubt, because the control of a ceiling moved.
  [[nodiscard]] Doubts doubts() const { return doubts_of(records_, earlier_controls_); }

 private:
  void end_turn() override;
  // Measures a case, and once more if it is too fast to be believed. Returns its record and the
  // seconds that it took beside its samples.
  std::pair<Record, double> measure_case(const Case& c, double share_s);
  void give_up_on_hung_case();

  RunPlan plan_;
  ResultsDirectory* directory_;
  std::map<const Device*, Measurer> measurers_;
  SecondLooks looks_;
  std::map<std::string, Record> finished_;
  std::vector<Record> records_;
  std::vector<Control> earlier_controls_;
  std::string roofs_unknown_;
  const Case* current_ = nullptr;
  Stopwatch clock_;
  std::chrono::duration<double> hang_limit_{};  // of the current case, or of a turn
  double others_s_ = 0;  // what clock_ has too much: the turns of other processes
  Watchdog watchdog_;    // the last member, because its thread uses the others
};

}  // namespace ridgebench
