// A second opinion on outputs of which the reference covers a sample only: another technique of the
// operation runs on the same inputs, is checked on the same sample, and then all elements of both
// are compared on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/measure/buffers.hpp"
#include "harness/measure/case.hpp"
#include "harness/measure/verification.hpp"

namespace ridgebench {

// `set` holds the row's inputs and its output; `rows` and `expected` are the sample. A library is
// asked first. Empty where no other technique serves the shape, agrees with the reference and finds
// room for its output.
std::optional<Witness> ask_witness(Device& device, const Case& row, const BufferSet& set,
                                   std::span<const std::int64_t> rows,
                                   std::span<const Expected> expected);

}  // namespace ridgebench
