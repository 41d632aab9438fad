// Shapes that are awkward for kernels: tails, single elements, primes, several blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/common/operation.hpp"

namespace ridgebench {

std::vector<Shape> awkward_shapes(const Operation& operation);

// Products for kernels of large tiles and persistent grids: ragged ones of several tiles of 128 x
// 256, with more of k than a ring of stages holds, and of few rows with much of k and with little.
// None for others.
std::vector<Shape> shapes_of_many_tiles(const Operation& operation);

// True if integers from -2 to 2 leave no rounding in any sum.
bool exact_on_integers(const Operation& operation);

}  // namespace ridgebench
