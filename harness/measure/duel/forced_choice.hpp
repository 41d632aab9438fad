// A technique whose choice the user made: `wgmma_pingpong@tile=128x192,cluster=2`.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/common/registry.hpp"

namespace ridgebench {

// Separates a technique's name from the name of one of its plans.
inline constexpr char kForces = '@';

// Returns a copy of the technique, which prepares the plan of this name only. Its own name becomes
// TECHNIQUE@PLAN, so that records distinguish it from the technique that chooses. Throws
// UsageError, which lists the names, if the technique has no such plan.
std::shared_ptr<const Implementation> with_plan(const Implementation& implementation,
                                                std::string_view plan);

}  // namespace ridgebench
