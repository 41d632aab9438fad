// The inputs of a case as a launch meets them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/measure/buffers.hpp"

namespace ridgebench {

// Returns the operands that a launch on buffer set number `index` reads, one view each, as they
// were before it. They lie in `copies`, or in place where the host can read them. An operand that
// the launch updated is drawn again, of a run with that fill and seed.
std::vector<View> inputs_before_launch(DeviceMemory& memory, std::span<const Operand> operands,
                                       const BufferSet& set, std::size_t index, Fill fill,
                                       std::uint64_t seed, std::vector<HostBuffer>& copies);

}  // namespace ridgebench
