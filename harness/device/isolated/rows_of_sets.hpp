// Rows of a reference, computed in the process that has loaded the operation's file.
#pragma once

#include <span>

#include "kernels/common/reference/batched.hpp"

namespace ridgebench {

// Computes all rows of all sets, on up to `threads` threads, which end with the call. Throws what
// the reference throws.
void compute_rows(const Operation& operation, const Shape& shape, std::span<const RowsOfSet> sets,
                  int threads);

}  // namespace ridgebench
