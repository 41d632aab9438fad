// The other side of KernelProcess: what a process does that has loaded a file of own kernels.
#pragma once

#include <string>

#include "harness/device/isolated/kernel_server.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// Loads the file at `path`, which messages call `file`, and answers commands until the other
// process ends. Returns ExitCode::usage if no process of ridgebench started this one.
ExitCode serve_kernels(const std::string& file, const std::string& path);

// Answers commands on the socket until the other process ends, and then ends this one.
[[noreturn]] void answer_commands(KernelServer& server);

}  // namespace ridgebench
