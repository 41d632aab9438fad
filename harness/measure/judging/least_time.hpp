// The least time of a launch by some roofs.
#pragma once

#include <optional>

#include "harness/measure/problem.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// Returns the least seconds of a launch by measured roofs or those of a data sheet, as a row's
// `roof` has them; empty if they lack one that it needs.
std::optional<double> least_s(const Implementation& implementation, const Problem& problem,
                              const Roofs& roofs);

}  // namespace ridgebench
