// The ceilings that `run --ceilings` takes from an earlier run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/results/environment.hpp"
#include "harness/results/record.hpp"

namespace ridgebench {

struct EarlierCeilings {
  std::vector<Record> records;  // verified ceilings, and their controls
  // Why they must not judge rows of this run: the runs are not comparable. Empty if they may.
  std::string unusable;
};

// Reads those of the run that the request names; none if it names no run. Throws UsageError if that
// run measured another device.
EarlierCeilings read_ceilings(const RunRequest& request,
                              const std::vector<std::unique_ptr<Device>>& devices,
                              const std::vector<std::string>& command_line);

}  // namespace ridgebench
