// Measures the duels of a command one by one and writes each to the folder as it finishes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/duel/duel.hpp"
#include "harness/measure/watchdog.hpp"
#include "harness/results/results_directory.hpp"

namespace ridgebench {

class DuelCampaign {
 public:
  DuelCampaign(std::vector<DuelCase> duels, Fill fill, std::uint64_t seed,
               ResultsDirectory& directory);

  // In the order of measurement.
  [[nodiscard]] const std::vector<DuelRecord>& records() const { return records_; }

  // Throws Interrupted, StorageError, and DeviceError after a record of the failure. A duel that
  // hangs ends the process.
  void measure_all();

 private:
  void measure(const DuelCase& duel);
  void keep(DuelRecord record);
  [[nodiscard]] DuelRecord failed(const std::string& reason) const;
  [[noreturn]] void give_up();

  std::vector<DuelCase> duels_;
  Fill fill_;
  std::uint64_t seed_;
  ResultsDirectory* directory_;
  std::map<const Device*, Duelist> duelists_;
  std::vector<DuelRecord> records_;
  const DuelCase* current_ = nullptr;
  Watchdog watchdog_;  // the last member, because its thread uses the others
};

}  // namespace ridgebench
