// How many probes a case has, and what their comparisons cost.
#pragma once

#include <cstddef>

#include "harness/measure/case.hpp"

namespace ridgebench {

// Cost of the compared rows of a probe, in the unit of kSampleCost.
inline constexpr double kProbeCost = 0x1p22;

// The environment variable that switches the probes of the suite's kernels off, so that their cost
// can be measured.
inline constexpr const char* kProbesVariable = "RIDGEBENCH_PROBES";
// True if the suite's kernels have probes. Throws UsageError if the variable has another value than
// 0 and 1.
bool probes_wanted();

// The number of probes that are taken. A control has none: it launches a kernel of the suite again
// that a row of the run has probed.
std::size_t probes_of(const Case& c);
// The number of those that are compared with the reference; 0 if the host's memory is short.
std::size_t affordable_probes(const Problem& problem);
// The cost of their comparisons, in the unit of kSampleCost.
double cost_of_probes(const Case& c, const Problem& problem);

}  // namespace ridgebench
