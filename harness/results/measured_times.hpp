// The times that a results directory holds of one operation in one format.
#pragma once

#include <map>
#include <string>

#include "kernels/common/operation.hpp"

namespace ridgebench {

// The best median time in s of each shape, by its text.
using BestTimes = std::map<std::string, double>;

// `device` as open_roofs takes it, and of the same device: a run has the times of its verified
// steady kernels, a step those of the parts that no cache may serve, a data sheet none. Throws
// UsageError.
BestTimes best_times(const std::string& device, const Operation& operation, FormatPair format);

}  // namespace ridgebench
