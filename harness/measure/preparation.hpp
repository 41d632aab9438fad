// How long cases take beside their samples: inputs, references and comparisons.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/measure/case.hpp"

namespace ridgebench {

// Estimates the seconds of each case beside its share of the budget; empty for a case that will be
// skipped. The first case with some inputs computes their reference, which the others share.
std::vector<std::optional<double>> preparation_of(std::span<const Case> cases, double share_s);

}  // namespace ridgebench
