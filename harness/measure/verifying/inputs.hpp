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

// Elements `first` .. `end` - 1 of an operand.
struct ElementRange {
  std::int64_t first;
  std::int64_t end;

  [[nodiscard]] std::int64_t size() const { return end - first; }
};

// The elements of an input that rows of the outputs read, and few others. `rows` ascend. The ranges
// ascend, do not touch, and begin at multiples of kElementsPerBlock.
std::vector<ElementRange> elements_read(const Operand& input, std::span<const std::int64_t> rows);

}  // namespace ridgebench
