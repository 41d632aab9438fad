// What a user asks of `run`, as it is kept in environment.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/regime.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/random.hpp"

namespace ridgebench {

inline constexpr const char* kEnvironmentSchema = "ridgebench.environment/1";

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

// The request of an earlier run, to resume it. Throws UsageError.
RunRequest read_request(const std::string& results_directory);

}  // namespace ridgebench
