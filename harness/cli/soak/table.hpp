// The findings of a soak as text.
#pragma once

#include <string>

#include "harness/results/soak_report.hpp"

namespace ridgebench {

// The table of kernels and patterns, what was left out, and the verdict in one line.
std::string soak_text(const SoakReport& report);

// The verdict: "no wrong bits in 12 TB that were compared, in 30 min".
std::string soak_verdict(const SoakReport& report);

// The verdict, then the first fault of the device, each kernel that was left out, and each that is
// slow, in one line.
std::string soak_failure(const SoakReport& report);

}  // namespace ridgebench
