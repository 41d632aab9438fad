// environment.json: the machine, the code and the request behind a run. What cannot be read is
// null, and `unavailable` says why.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/regime.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/random.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// The measuring rules in docs/method.md; a change that moves results raises it.
inline constexpr int kMethodVersion = 7;

// The names and the sizes that a user gave for the cases. An empty list represents all.
struct CaseNames {
  std::vector<std::string> operations = {};
  std::vector<std::string> techniques = {};
  std::vector<std::string> formats = {};
  // In place of a profile's sweep, each as a line of a file of shapes has it:
  // `matmul m:1..64:x2/n:4096/k:4096 bf16`. The format is optional.
  std::vector<std::string> shapes = {};

  [[nodiscard]] bool empty() const {
    return operations.empty() && techniques.empty() && formats.empty() && shapes.empty();
  }
};

// A user's request to `run`, as far as it decides the rows and their data.
struct RunRequest {
  std::string device;  // empty: the default
  Profile profile = Profile::quick;
  std::string filter;  // regular expression on ids; empty: all
  CaseNames names = {};
  std::vector<Regime> regimes;
  std::uint64_t seed = 1;
  Fill fill = Fill::normal;
  bool early_launches = true;  // see Queue::early_launches
  // Only rows whose bits repeat, and the product of each multiprocessor (fingerprint.hpp).
  bool fingerprint = false;
  std::optional<double> budget_s;
  std::string roof;      // data sheet to draw next to the measured roofs; empty: none
  std::string ceilings;  // results directory whose ceilings are used; empty: own ones
};

// The caller's readings of the machine. Null values are unreadable.
struct MachineFacts {
  struct Device {
    std::string name;
    Backend backend;
    std::string data_sheet;           // empty: none matches
    nlohmann::ordered_json identity;  // without the keys that this kind of device does not have
    nlohmann::ordered_json state;     // readings that may differ before and after a run
  };
  std::vector<Device> devices;
  nlohmann::ordered_json host;
  nlohmann::ordered_json host_state;
};

// The files that `--load` added: name and SHA-256 of each.
nlohmann::ordered_json describe_loaded_kernels();

// Everything except the end of the run.
nlohmann::ordered_json make_environment(const RunRequest& request, const MachineFacts& before,
                                        std::span<const std::string> command_line);

// Adds what is known at the end of a whole run: also the condition of a device whose counters of
// faults grew (worn.hpp).
void end_environment(nlohmann::ordered_json& environment, const MachineFacts& after,
                     double duration_s);

// Now, as RFC 3339 in UTC.
std::string timestamp();

}  // namespace ridgebench
