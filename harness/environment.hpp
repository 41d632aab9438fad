// environment.json: the machine, the code and the request behind a run. What cannot be read is
// null, and `unavailable` says why.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/sampler.hpp"
#include "kernels/common/operation.hpp"

namespace ridgepoint {

// The measuring rules in docs/method.md; a change that moves results raises it.
inline constexpr int kMethodVersion = 1;

// What a user asks of `run`, as far as it decides the rows and their data.
struct RunRequest {
  std::string device;  // empty: the default
  Profile profile = Profile::quick;
  std::string filter;  // regular expression on ids; empty: all
  std::vector<Regime> regimes;
  std::uint64_t seed = 1;
  Fill fill = Fill::normal;
  std::optional<double> budget_s;
  std::string roof;      // data sheet to draw beside; empty: none
  std::string ceilings;  // results directory whose ceilings are used; empty: own ones
};

std::string_view name(Profile profile);
// Throws UsageError.
Profile parse_profile(std::string_view text);

using Devices = std::vector<std::unique_ptr<Device>>;

// Everything but the end of the run.
nlohmann::ordered_json make_environment(const RunRequest& request, const Devices& devices,
                                        std::span<const std::string> command_line);

// What only the end of a whole run tells.
void end_environment(nlohmann::ordered_json& environment, const Devices& devices,
                     double duration_s);

// The request of an earlier run, to resume it. Throws UsageError.
RunRequest read_request(const std::string& results_directory);

// Now, as RFC 3339 in UTC.
std::string timestamp();

}  // namespace ridgepoint
