// Shapes that are awkward for kernels: tails, single elements, primes, several blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgepoint {

std::vector<Shape> awkward_shapes(const Operation& operation);

// Whether integers from -2 to 2 leave no rounding in any sum.
bool exact_on_integers(const Operation& operation);

}  // namespace ridgepoint
