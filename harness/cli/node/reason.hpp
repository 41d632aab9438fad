// Why a process of a GPU did not end with code 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/cli/node/node_run.hpp"

namespace ridgebench::node {

struct Failure {
  std::string reason;  // one line
  bool hung = false;   // its own watchdog ended it
};

// By the results in the folder of a process that ended with this code, and by its log, which begins
// at byte `log_begin`.
Failure failure_of(const NodeWork& work, const std::filesystem::path& folder, int code,
                   std::uintmax_t log_begin);

}  // namespace ridgebench::node
