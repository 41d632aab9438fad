// Compares all elements of an output with those of another technique.
#pragma once

#include <optional>
#include <span>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"

namespace ridgebench {

// Checks the elements outside the reference's sample. A witness is another technique of the
// operation, preferably of a library. It runs on the same inputs, and the function checks it on the
// same sample. Then the device compares all elements of both outputs. `set` holds the case's inputs
// and its output; `rows` and `expected` are the sample. The result is empty if no other technique
// serves the shape, agrees with the reference and has memory for its output.
std::optional<Witness> ask_witness(Device& device, const Case& c, const Problem& problem,
                                   const BufferSet& set, std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected);

}  // namespace ridgebench
