// Measures the duels of a command one by one and writes each to the folder as it finishes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/measure/duel/duel.hpp"
#include "harness/measure/duel/processes.hpp"
#include "harness/measure/watchdog.hpp"
#include "harness/results/results_directory.hpp"

namespace ridgebench {

class DuelCampaign {
 public:
  DuelCampaign(std::vector<DuelCase> duels, DuelSettings settings, ResultsDirectory& directory);

  // In the order of measurement.
  [[nodiscard]] const std::vector<DuelRecord>& records() const { return records_; }

  // Throws Interrupted, StorageError, and DeviceError after a record of the failure. A duel that
  // hangs in this process ends it.
  void measure_all();

 private:
  void measure(const DuelCase& duel);
  DuelRecord measure_here(const DuelCase& duel);
  void keep(DuelRecord record);
  [[nodiscard]] DuelRecord failed(const std::string& reason) const;
  void give_up();

  std::vector<DuelCase> duels_;
  DuelSettings settings_;
  ResultsDirectory* directory_;
  std::map<const Device*, DuelMeasurer> measurers_;
  std::vector<DuelRecord> records_;
  const DuelCase* current_ = nullptr;
  Watchdog watchdog_;  // the last member, because its thread uses the others
};

}  // namespace ridgebench
