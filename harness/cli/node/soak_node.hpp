// `soak --concurrent` burns in all GPUs of a node at the same time, a process each: a driver
// context that dies ends the soak of its GPU only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/cli/node/node.hpp"

namespace ridgebench {

// The processes get the words of `command_line`, except those of NodeRequest, of which `device`,
// `out`, `limit_s` and `dry_run` count. Prints a line for each GPU, or strict JSON, and returns the
// largest code of the GPUs. Throws UsageError, StorageError, and DeviceError where there is no GPU.
ExitCode soak_node(const NodeRequest& request, bool json,
                   const std::vector<std::string>& command_line);

// Prints what the logs in the folder of such a soak add up to, and returns its code. Throws
// UsageError.
ExitCode read_soak_node(const std::filesystem::path& folder, bool json);

}  // namespace ridgebench
