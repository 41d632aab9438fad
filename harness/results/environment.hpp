// environment.json: the machine, the code and the request behind a run. What cannot be read is
// null, and `unavailable` says why.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/results/run_request.hpp"

namespace ridgebench {

// The measuring rules in docs/method.md; a change that moves results raises it.
inline constexpr int kMethodVersion = 3;

using Devices = std::vector<std::unique_ptr<Device>>;

// Everything but the end of the run.
nlohmann::ordered_json make_environment(const RunRequest& request, const Devices& devices,
                                        std::span<const std::string> command_line);

// What only the end of a whole run tells.
void end_environment(nlohmann::ordered_json& environment, const Devices& devices,
                     double duration_s);

// Now, as RFC 3339 in UTC.
std::string timestamp();

}  // namespace ridgebench
