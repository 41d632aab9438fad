// The least time of a launch by some roofs.
#pragma once

#include <optional>

#include "harness/measure/problem.hpp"
#include "kernels/common/registry.hpp"
#include "roofline/roofs.hpp"

namespace ridgebench {

// Returns the least seconds of a launch by `roofs`, which ceilings or a data sheet gave. Empty if
// they lack one that the launch needs.
std::optional<double> least_s(const Implementation& implementation, const Problem& problem,
                              const Roofs& roofs);

}  // namespace ridgebench
