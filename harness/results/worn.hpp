// Counters of a device that grow only with a fault of its hardware: errors of its memory, replaced
// rows and pages, packets that its links sent again, critical errors of its driver. The end of a
// command records in environment.json (`conditions`, with the code `worn`) which of them grew.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ridgebench {

// Key of environment.json: what may falsify all rows.
inline constexpr const char* kConditions = "conditions";
// Code of the condition of a device whose counters grew during the run.
inline constexpr const char* kWorn = "worn";

// By name: remapped_rows.uncorrected. A flag counts as 0 or 1.
using FaultCounters = std::map<std::string, double>;

// The counters among the readings of Device::state().
FaultCounters fault_counters(const nlohmann::ordered_json& state);

// True for errors of its memory that a device corrects itself, which spoil no result.
bool is_corrected(const std::string& counter);

// True for errors of a link to the host or to another GPU. The link finds them and sends the packet
// again, so that they spoil no result.
bool is_of_link(const std::string& counter);

struct Growth {
  std::string counter;
  double before;
  double after;

  // "remapped_rows.pending grew from 0 to 1"
  [[nodiscard]] std::string text() const;
};

// The counters that both have and that grew.
std::vector<Growth> growth_of(const FaultCounters& before, const FaultCounters& after);

// A device of a run whose counters grew.
struct Worn {
  std::string device;
  std::vector<Growth> counters;

  // True if a counter of errors grew after which a GPU should not work on: memory that ECC could
  // not correct, or that has no spare row.
  [[nodiscard]] bool severe() const;
  // "cuda:0 counted faults during the run: ecc_uncorrected grew from 0 to 1"
  [[nodiscard]] std::string text() const;
};

// The devices whose counters grew between `state.before` and `state.after` of environment.json.
// Errors that a device corrected, and rare errors of links, are left out.
std::vector<Worn> worn_devices(const nlohmann::ordered_json& environment);

// A sentence for each device whose links sent packets again, too rarely for worn_devices().
std::vector<std::string> rare_link_errors(const nlohmann::ordered_json& environment);

// Writes a condition with the code `worn` for each of worn_devices(), in place of earlier ones.
void record_worn(nlohmann::ordered_json& environment);

// The texts of the recorded conditions with this code.
std::vector<std::string> recorded_worn(const nlohmann::ordered_json& environment);

// The same of the environment.json in a results folder. Throws UsageError for an unreadable one.
std::vector<std::string> recorded_worn_in(const std::string& folder);

// One line for each recorded condition with this code that the states do not show, and for each
// worn device that the conditions lack.
std::vector<std::string> worn_problems(const nlohmann::ordered_json& environment);

}  // namespace ridgebench
