// Checks of the keys of a row that follow from its other keys, from environment.json and from the
// rows of its ceilings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/results/record.hpp"
#include "harness/results/verify/checks.hpp"
#include "roofline/device_spec.hpp"
#include "roofline/json_object.hpp"

namespace ridgebench {

struct StatedDevice {
  std::optional<std::string> backend;
  double tick_s;                         // 0: unknown
  std::optional<double> launch_floor_s;  // seconds of an empty launch
  const DeviceSpec* sheet;
  bool sheet_is_known;  // the device has none, or this program has it
};

// The facts of environment.json that hold for all rows.
struct StatedRun {
  std::map<std::string, StatedDevice> devices;
  std::set<std::string> own_operations;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> fill;
  bool imported;
  bool has_other_ceilings;  // of a run that `--ceilings` named, or measured again by `--retry`
};

// Throws UsageError.
StatedRun stated_run(const JsonObject& environment);

// Checks the id, and the keys that a row repeats of environment.json.
void check_identity(const Record& record, const StatedRun& run, Checker& check);

// Compares the mean, the clock and the flag of few samples of an ok row with its samples.
void check_samples(const Record& record, Checker& check);

// Adds a problem for each rate of a roof that the row of its ceiling does not have. Rows of a run
// that has other ceilings are not compared with them.
void check_roofs(std::span<const Record> records, bool has_other_ceilings,
                 std::vector<std::string>& problems);

}  // namespace ridgebench
