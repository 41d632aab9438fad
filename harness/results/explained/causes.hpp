// The causes for which a row is slower than its roof, or for which its number means less than it
// seems. Each has its evidence, which the record or environment.json holds, and a remedy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/key.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/enum_names.hpp"
#include "roofline/device_spec.hpp"

namespace ridgebench {

// machine: the state of the machine during the run. measurement: how the row was measured. kernel:
// the kernel, or the size of its work.
enum class CauseOf : std::uint8_t { machine, measurement, kernel };
constexpr auto names_of(CauseOf) { return enum_names("cause", "machine", "measurement", "kernel"); }

struct Cause {
  std::string code;  // stable: scripts may compare it
  CauseOf of = CauseOf::machine;
  std::optional<double> factor = std::nullopt;
  std::string evidence;
  std::string remedy;
};

// clang-format off
inline constexpr KeyList kCauseKeys{
    Key{"code", &Cause::code, "", "stable name of the cause"},
    Key{"of", &Cause::of, "", "what has to change: the machine, the measurement or the kernel"},
    Key{"factor", &Cause::factor, "", "the row takes this many times as long as without the cause, by the evidence; null if that is unknown", kPositive},
    Key{"evidence", &Cause::evidence, "", "the readings that show it"},
    Key{"remedy", &Cause::remedy, "", "a command or a change"},
};
// clang-format on
constexpr const auto& keys_of(const Cause*) { return kCauseKeys; }

// A condition of environment.json that may falsify all rows of a device.
struct RunCondition {
  std::string code;
  std::string text;
  std::string device;  // empty: the host
};

// Facts of a device that the causes of its rows need.
struct DeviceFacts {
  nlohmann::ordered_json json;                        // its entry of environment.json
  const DeviceSpec* sheet = nullptr;                  // that it matches
  std::optional<double> stolen_share = std::nullopt;  // of the time of all processors of a host
};

// Facts beside a row that its causes need. All pointers outlive it.
struct RowFacts {
  const Record* record;
  std::optional<Limit> limit;        // by today's rules
  bool served_by_cache = false;      // likewise
  std::vector<std::string> doubted;  // limiting ceilings whose control moved
  const DeviceFacts* device;
  const std::vector<RunCondition>* conditions;
  // The fastest row of the same operation, format, shape, regime and precision of sums there.
  const Record* fastest = nullptr;
};

// Returns the causes of a row: machine first, then measurement, then kernel. Each group begins with
// the largest factor and ends with the unknown ones. A code comes once.
std::vector<Cause> causes_of(const RowFacts& facts);

// The parts, for causes_of().
std::vector<Cause> machine_causes(const RowFacts& facts);
std::vector<Cause> measurement_causes(const RowFacts& facts);
std::vector<Cause> kernel_causes(const RowFacts& facts);

}  // namespace ridgebench
