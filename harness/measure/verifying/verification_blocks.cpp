#include <algorithm>

#include "harness/measure/verifying/verification.hpp"

namespace ridgebench {

Verification compare_in_blocks(Device& device, const Implementation& implementation,
                               const Shape& shape, const BufferSet& set,
                               std::span<const std::int64_t> rows, std::span<const View> inputs,
                               std::int64_t most_elements) {
  const Operation& operation = *implementation.operation;
  const auto outputs = outputs_of(operation, shape, implementation.format);
  const auto block = static_cast<std::size_t>(
      std::max<std::int64_t>(1, most_elements / elements_of_row(operation, shape)));
  Verification result;
  std::vector<HostBuffer> copies;
  for (std::size_t first = 0; first < rows.size(); first += block) {
    const auto part = rows.subspan(first, std::min(block, rows.size() - first));
    const std::vector<View> views = read_rows(device.memory(), outputs, part, set, copies);
    add(result,
        compare(implementation, shape, views, part, reference_of(operation, shape, inputs, part)));
  }
  return result;
}

}  // namespace ridgebench
