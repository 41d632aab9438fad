// `run --concurrent` measures all GPUs of a node, a process each: alone, then at the same time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/error.hpp"

namespace ridgebench {

struct NodeRequest {
  std::string device;              // one GPU; empty: all
  std::string out;                 // the node's folder; empty: the default
  std::optional<double> budget_s;  // of the whole command
  std::optional<double> limit_s;   // a GPU's process hangs if it ends no row for so long
  bool dry_run = false;            // only print what would be measured
  std::string resume = {};         // the folder of a run to finish; empty: a new run
  bool retry = false;              // with `resume`: also measure failed and suspect rows again
};

// True if the folder has node.json, which describes such a run or a soak.
bool holds_node(const std::filesystem::path& folder);

// The processes get the words of `command_line`, except those of NodeRequest. A half of the budget
// is for the isolated pass, in equal parts, and a half for the loaded one. Prints a table, and
// returns the largest code of the GPUs. Throws UsageError, StorageError, and DeviceError where
// there is no GPU.
ExitCode measure_node(const NodeRequest& request, const std::vector<std::string>& command_line);

}  // namespace ridgebench
