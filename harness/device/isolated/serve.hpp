// The other side of KernelProcess: what a process does that has loaded a file of own kernels.
#pragma once

#include <string>

#include "kernels/common/error.hpp"

namespace ridgebench {

// Loads the file at `path`, which messages call `file`, and answers commands until the other
// process ends. Returns ExitCode::usage if no process of ridgebench started this one.
ExitCode serve_kernels(const std::string& file, const std::string& path);

}  // namespace ridgebench
