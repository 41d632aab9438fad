// How the CUDA timer runs under a tool.
#pragma once

namespace ridgebench {

// Environment variable: launches do not wait behind a gate. It serves tools that run kernels one at
// a time, as profilers and sanitizers do; times then include the host's share of a launch.
inline constexpr const char* kUngatedVariable = "RIDGEBENCH_UNGATED";

}  // namespace ridgebench
