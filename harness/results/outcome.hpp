// The outcome of a run: did it measure the rows that it was started for?
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/results/record.hpp"
#include "kernels/common/error.hpp"

namespace ridgebench {

// The flag of a row that was skipped because its buffers do not fit.
inline constexpr const char* kOutOfMemoryFlag = "out_of_memory";
// The reason of a row that the watchdog ended.
inline constexpr const char* kHungReason = "the launch did not return: hung";

// Returns a line if no kernel was measured (of a run of ceilings: no ceiling), and a line for each
// operation whose rows were all skipped, one of them for lack of memory.
std::vector<std::string> unmeasured(std::span<const Record> records);

// Returns the exit code of a finished run, which is that of its worst row.
ExitCode exit_code(std::span<const Record> records);

}  // namespace ridgebench
