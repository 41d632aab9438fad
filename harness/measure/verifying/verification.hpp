// Compares outputs with the operation's reference. The tolerance follows from the operation and the
// technique.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/measure/verifying/outputs.hpp"
#include "harness/measure/verifying/reference.hpp"
#include "harness/results/record.hpp"
#include "kernels/common/operation.hpp"
#include "kernels/common/registry.hpp"

namespace ridgebench {

// Returns a bound on |output - value|: c u_acc sqrt(terms) ||terms||_2 + u_out |value| + the
// technique's stated errors; u is half the format's epsilon. The first part is the growth of
// independent rounding errors in a sum (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 4.2). With c = 8, rounding errors of a right output do not exceed it by chance.
double tolerance(const Implementation& implementation, const Shape& shape, Format output,
                 Expected expected);

// Compares rows of all outputs, one view of each, with `expected`, which has for each row that of
// every output.
Verification compare(const Implementation& implementation, const Problem& problem,
                     std::span<const View> outputs, std::span<const std::int64_t> rows,
                     std::span<const Expected> expected);
// The same for rows whose reference is too large to keep: computes it block by block.
Verification compare(const Implementation& implementation, const Problem& problem,
                     std::span<const View> outputs, std::span<const std::int64_t> rows,
                     std::span<const View> inputs);

// Adds the comparison of another part of the output.
void add(Verification& result, const Verification& other);

// Compares neighbouring elements of an output with `expected`, one value for each.
Verification compare_elements(const Implementation& implementation, const Shape& shape, View output,
                              std::span<const Expected> expected);

// Compares rows of a buffer set in blocks of up to `most_elements` elements and computes the
// reference of a block at once. A reference in another process takes long for a row. A reference of
// many rows also computes parts of a row; a block of another has one row at least.
Verification compare_in_blocks(Device& device, const Implementation& implementation,
                               const Problem& problem, const BufferSet& set,
                               std::span<const std::int64_t> rows, std::span<const View> inputs,
                               std::int64_t most_elements);

// Compares signed sums of groups of all elements of a single output with those of the reference,
// after Freivalds. The signs are random. By Hoeffding's inequality, the sum of n errors within
// their tolerances exceeds the root of the sum of their squares 6 times with a probability below
// 1e-7, and errors in practice stay far inside their tolerances. An element that is off by more
// than that is found. The reference of up to `most_groups` groups is computed at once.
Verification compare_groups(const Implementation& implementation, const Problem& problem,
                            View output, const Groups& groups, std::span<const View> inputs,
                            std::int64_t most_groups = kMostKeptElements);

}  // namespace ridgebench
