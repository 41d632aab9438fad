// The energy of a row beside that of the ceiling of its run that spends the least: joules of the
// whole board for a FLOP, or for a byte of a row that memory limits.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "harness/results/key.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

struct RowEnergy {
  double joules;          // of a launch
  Limit limit;            // compute: FLOPs are counted; memory: compulsory bytes
  double work_per_joule;  // FLOP/J or byte/J
  std::optional<double> best_per_joule = std::nullopt;  // of that ceiling
  std::optional<std::string> ceiling = std::nullopt;    // its id

  // May exceed 1: at a lower clock the board spends less on the same work.
  [[nodiscard]] std::optional<double> share() const;
  // "8.3 mJ a launch, 1.22 TFLOP a joule: 93 % of ..."
  [[nodiscard]] std::string text() const;
};

// clang-format off
inline constexpr KeyList kRowEnergyKeys{
    Key{"energy_per_launch_j", &RowEnergy::joules, "J", "of the whole board for a launch", kPositive},
    Key{"limit", &RowEnergy::limit, "", "what is counted for a joule: FLOPs for `compute`, compulsory bytes for `memory`"},
    Key{"work_per_joule", &RowEnergy::work_per_joule, "FLOP/J or byte/J", "of the row", kPositive},
    Key{"best_per_joule", &RowEnergy::best_per_joule, "FLOP/J or byte/J", "of the ceiling of the run with the most; null if none has an energy", kPositive},
    Key{"ceiling", &RowEnergy::ceiling, "", "id of that ceiling's row"},
    Key{"share", &RowEnergy::share, "", "the row's over the ceiling's; a lower clock may lift it above 1", kPositive},
};
// clang-format on
constexpr const auto& keys_of(const RowEnergy*) { return kRowEnergyKeys; }

// Empty for a row without a recorded energy, and for one that neither arithmetic nor memory limits.
// Arithmetic is compared with steady ceilings in the format of the row's arithmetic.
std::optional<RowEnergy> energy_of(const Record& row, std::optional<Limit> limit,
                                   std::span<const Record> records);

}  // namespace ridgebench
