#include "harness/measure/verifying/inputs.hpp"

#include <omp.h>

#include <algorithm>

#include "harness/device/own_work.hpp"

namespace ridgebench {

std::vector<View> inputs_before_launch(DeviceMemory& memory, std::span<const Operand> operands,
                                       const BufferSet& set, std::size_t index, Fill fill,
                                       std::uint64_t seed, std::vector<HostBuffer>& copies) {
  const OwnWork own;
  copies.resize(std::max(copies.size(), operands.size()));
  std::vector<View> views;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    if (!operand.is_input()) continue;
    const DeviceMemory::Region region = region_of(operand, set[i]);
    if (operand.access == Access::updated) {
      std::byte* const before = copies[i].resize(region.size());
      fill_random(before, operand.elements, operand.format,
                  own_values(operand, i, index, fill, seed), omp_get_max_threads());
      views.push_back({before, operand.format});
    } else {
      views.push_back({memory.on_host({&region, 1}, copies[i]), operand.format});
    }
  }
  return views;
}

std::vector<ElementRange> elements_read(const Operand& input, std::span<const std::int64_t> rows) {
  if (input.by_row == 0) return {{0, input.elements}};
  std::vector<ElementRange> ranges;
  for (const std::int64_t row : rows) {
    const std::int64_t first = row * input.by_row / kElementsPerBlock * kElementsPerBlock;
    const std::int64_t end = std::min((row + 1) * input.by_row, input.elements);
    if (!ranges.empty() && first <= ranges.back().end) {
      ranges.back().end = end;
    } else {
      ranges.push_back({first, end});
    }
  }
  return ranges;
}

}  // namespace ridgebench
